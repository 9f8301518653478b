/** A machine of a VPN in memory: an engine with a memory device, its tunnels, and a table made of both. */
import { randomBytes } from 'node:crypto'
import {
  type Cidr,
  type Clock,
  type Logger,
  parseCidr,
  type PeerId,
  peerIdFromPublicKey,
  silentLogger,
  systemClock,
  systemRandom,
} from '@mesh/core'
import type { EngineEvent } from '@mesh/engine'
import { type MemoryEngine, openMemoryEngine } from '@mesh/engine/testing'
import { Tunnels } from '../tunnels/tunnels.ts'
import type { MemoryMember, MemoryNetwork } from './memory-network.ts'

export interface MemoryMachine {
  readonly peer: PeerId
  readonly engine: MemoryEngine
  readonly tunnels: Tunnels
  readonly member: MemoryMember
  readonly events: readonly EngineEvent[]
  /** Makes these machines those of the table. */
  setPeers(numbers: readonly number[]): void
  /** The packets that the kernel got since the last call. */
  received(): Uint8Array[]
  stop(): void
}

export interface MemoryMachineInit {
  /** The machine's number: machine n is peer n and owns 10.1.0.n and fd00::n. */
  readonly number: number
  readonly peers: readonly number[]
  readonly clock?: Clock
  readonly log?: Logger
}

/** @param number which machine, counted from 1 */
export function peerOf(number: number): PeerId {
  return peerIdFromPublicKey(
    new Uint8Array(32).fill(number).map((byte, at) => (at === 0 ? number >> 8 : byte)),
  )
}

/** @param number which machine, counted from 1 */
export function addressOf(number: number): string {
  return `10.1.${number >> 8}.${number & 255}`
}

export async function openMachine(network: MemoryNetwork, init: MemoryMachineInit): Promise<MemoryMachine> {
  const { number, clock = systemClock, log = silentLogger } = init
  const peer = peerOf(number)
  const member = network.join(peer)
  const events: EngineEvent[] = []
  const privateKey = randomBytes(32)
  let peers = init.peers

  const engine = openMemoryEngine({
    privateKey,
    onEvent(event) {
      events.push(event)
      tunnels.engineEvent(event)
    },
  })
  const setTable = () =>
    engine.setTable({
      local: rangesOf(number),
      peers: peers.map((other) => {
        const id = peerOf(other)
        return { peer: id, allowed: rangesOf(other), ...tunnels.chosenOf(id) }
      }),
    })
  const tunnels = new Tunnels(
    {
      self: peer,
      privateKey,
      networkKey: 'network key',
      mtu: 1280,
      paths: { vpnRanges: () => [], interfaceName: () => 'mesh0', networks: () => [] },
    },
    { network: member.network, engine, clock, random: systemRandom, log, onTunnels: setTable },
  )
  const setPeers = (numbers: readonly number[]) => {
    peers = numbers
    tunnels.setPeers(numbers.map(peerOf))
    setTable()
  }
  setPeers(peers)
  await tunnels.start()
  return {
    peer,
    engine,
    tunnels,
    member,
    events,
    setPeers,
    received: () => engine.device.receive().map((bytes) => Uint8Array.from(bytes)),
    stop() {
      tunnels.stop()
      engine.close()
    },
  }
}

function rangesOf(number: number): Cidr[] {
  return [parseCidr(`${addressOf(number)}/32`), parseCidr(`fd00::${number}/128`)]
}
