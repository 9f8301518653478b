import { type PeerId, silentLogger } from '@mesh/core'
import type { Engine, EngineCounters, EngineEvent, EnginePeer } from '@mesh/engine'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { EngineSupervisor } from './engine-supervisor.ts'
import { peerOf } from './testing/memory-machine.ts'
import { REOPEN_AFTER_MS } from './limits.ts'

const [A, B] = [peerOf(1), peerOf(2)]

test('counters never fall: not when a peer leaves, not when the interface is lost', async () => {
  const { supervisor, clock, lose } = openSeat()
  supervisor.setTable({ local: [], peers: [A, B].map(unknownPeer) })
  const sum = () => {
    const { device, peers } = supervisor.stats()
    const all = [device, ...peers.values()]
    return {
      packetsIn: all.reduce((total, { packetsIn }) => total + packetsIn, 0),
      spoofed: all.reduce((total, { drops }) => total + (drops.spoofedSource ?? 0), 0),
    }
  }
  expect(sum()).toEqual({ packetsIn: 30, spoofed: 6 })
  supervisor.setTable({ local: [], peers: [unknownPeer(A)] })
  expect(sum()).toEqual({ packetsIn: 30, spoofed: 6 })
  expect(supervisor.stats().peers.has(B)).toBe(false)
  lose()
  expect(sum()).toEqual({ packetsIn: 30, spoofed: 6 })
  await clock.advance(REOPEN_AFTER_MS)
  // and what the new engine counted
  expect(sum()).toEqual({ packetsIn: 50, spoofed: 10 })
})

test('a route that the kernel refuses costs no interface, also after it was made again', async () => {
  const { supervisor, clock, lose, told } = openSeat({ refusesRoutes: true })
  expect(supervisor.setRoutes([])?.message).toBe('in use')
  lose()
  await clock.advance(REOPEN_AFTER_MS)
  expect(told).toEqual(['lost', 'back'])
  expect(supervisor.interface?.name).toBe('mesh0')
})

function unknownPeer(peer: PeerId): EnginePeer {
  return { peer, allowed: [], mtu: 1280, tunnel: { kind: 'none' } }
}

/** Every engine has counted ten packets and two drops for the device and for each peer of its table. */
function openSeat({ refusesRoutes = false } = {}) {
  const clock = createManualClock()
  const told: string[] = []
  let onEvent = (_event: EngineEvent) => {}
  const counters: EngineCounters = {
    packetsIn: 10,
    bytesIn: 0,
    packetsOut: 0,
    bytesOut: 0,
    drops: { spoofedSource: 2 },
  }
  const supervisor = new EngineSupervisor(
    {
      name: 'mesh0',
      addresses: [],
      mtu: 1280,
      privateKey: new Uint8Array(32),
      onEvent() {},
      onLost: (error) => told.push(error === undefined ? 'lost' : 'gone'),
      onReopened: () => told.push('back'),
      onInterfaceProblem() {},
    },
    {
      clock,
      log: silentLogger,
      openEngine(init) {
        onEvent = init.onEvent
        let peers: readonly EnginePeer[] = []
        const engine: Partial<Engine> = {
          publicKey: new Uint8Array(32),
          interface: { name: 'mesh0', mtu: 1280, offload: false, offloadUdp: false },
          setTable: (table) => void (peers = table.peers),
          setRoutes() {
            if (refusesRoutes) throw new Error('in use')
          },
          stats: () => ({
            device: counters,
            peers: new Map(peers.map(({ peer }) => [peer, counters])),
            guests: new Map(),
            eventsDropped: 0,
          }),
          close() {},
        }
        return engine as Engine
      },
    },
  )
  return { supervisor, clock, told, lose: () => onEvent({ type: 'failed', message: 'taken away' }) }
}
