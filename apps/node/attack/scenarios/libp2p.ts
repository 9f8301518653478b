/** Attacks on what libp2p itself answers to anybody. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, openStream, sendAll, varint } from '../attackers.ts'
import { pause } from '../until-true.ts'

const IDENTIFY_PUSH = '/ipfs/id/push/1.0.0'
const PING = '/ipfs/ping/1.0.0'
const HOP = '/libp2p/circuit/relay/0.2.0/hop'
const DHT = '/ipfs/kad/1.0.0'

/** Calls `act` over and over on a connection, which is made anew when it ends; gives how often it went well. */
async function overAndOver(
  attack: Attack,
  act: (connection: Connection) => Promise<unknown>,
): Promise<number> {
  const { signal, target } = attack
  let done = 0
  while (!signal.aborted) {
    try {
      const connection = await dialTarget(await attack.peer(), target, signal)
      while (!signal.aborted && connection.status === 'open') {
        await act(connection)
        done++
      }
    } catch {
      await pause(20, signal)
    }
  }
  return done
}

/** A protobuf field with bytes. */
const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])

/** An identify message with as many addresses and protocols as fit, and a long agent version. */
function hugeIdentify(): Uint8Array {
  const addresses = Array.from({ length: 200 }, (_, at) =>
    field(2, multiaddr(`/ip4/192.0.2.${at}/tcp/${1024 + at}`).bytes),
  )
  const protocols = Array.from({ length: 100 }, (_, at) => field(3, Buffer.from(`/${at}/${'p'.repeat(40)}`)))
  return Buffer.concat([...addresses, ...protocols, field(6, Buffer.alloc(1_000, 'a'))])
}

export const LIBP2P_ATTACKS: readonly Scenario[] = [
  {
    name: 'substreams',
    who: 'stranger',
    does: 'opens and closes streams without pause, thousands of them',
    boundedBy: 'UNPROVEN_STREAMS_PER_S, MAX_REFUSED_STREAMS',
    appliesToLegacy: true,
    async run(attack) {
      const opened = await overAndOver(attack, async (connection) => {
        const batch = Array.from({ length: 50 }, async () => {
          const stream = await openStream(connection, PING, attack.signal)
          await stream.close()
        })
        await Promise.all(batch)
      })
      return `${opened * 50} streams`
    },
  },
  {
    name: 'identify-push',
    who: 'stranger',
    does: 'pushes identify messages full of addresses and protocols without pause',
    boundedBy: 'IDENTIFIES_BY_ADDRESS, IDENTIFIES_IN_ALL, UNPROVEN_STREAMS_PER_S',
    appliesToLegacy: true,
    async run(attack) {
      const pushes = await overAndOver(attack, async (connection) => {
        const stream = await openStream(connection, IDENTIFY_PUSH, attack.signal)
        stream.send(framed(hugeIdentify()))
        await stream.close()
      })
      return `${pushes} pushes`
    },
  },
  {
    name: 'pings',
    who: 'stranger',
    does: 'pings without pause on several streams',
    boundedBy: 'PINGS_PER_S, MAX_PING_STREAMS, UNPROVEN_STREAMS_PER_S',
    appliesToLegacy: true,
    async run(attack) {
      const blocks = await overAndOver(attack, async (connection) => {
        const stream = await openStream(connection, PING, attack.signal)
        while (await sendAll(stream, randomBytes(32 * 1024), attack.signal)) await pause(1, attack.signal)
      })
      return `${blocks} streams of pings`
    },
  },
  {
    name: 'slow-negotiation',
    who: 'stranger',
    does: '500 TCP connections say nothing, and streams on 8 connections never finish their negotiation',
    boundedBy: 'MAX_PENDING_INBOUND, MAX_PENDING_PER_ADDRESS, MAX_EARLY_STREAMS',
    appliesToLegacy: true,
    async run({ target, signal, peer }) {
      const port = Number(/\/tcp\/(\d+)/.exec(target.address)?.[1])
      let opened = 0
      const silent = Array.from({ length: 500 }, async () => {
        while (!signal.aborted) {
          const socket = connect({ host: '127.0.0.1', port })
          await new Promise<void>((resolve) => {
            socket.once('connect', () => opened++)
            socket.once('error', () => resolve())
            socket.once('close', () => resolve())
            signal.addEventListener('abort', () => socket.destroy(), { once: true })
          })
          await pause(100, signal)
        }
      })
      const halfOpen = Array.from({ length: 8 }, async () => {
        const connection = await dialTarget(await peer(), target, signal)
        const muxer = connection as unknown as {
          muxer?: { createStream(): Promise<{ send(b: Uint8Array): void }> }
        }
        for (let at = 0; at < 200 && !signal.aborted; at++) {
          const stream = await muxer.muxer?.createStream()
          stream?.send(Buffer.from('\x13/multistream'))
          opened++
        }
      })
      await Promise.all([...silent, ...halfOpen.map((each) => each.catch(() => {}))])
      return `${opened} connections and streams`
    },
  },
  {
    name: 'windows',
    who: 'stranger',
    does: 'fills the receive windows of as many streams as it may open on every protocol, from 16 keys',
    boundedBy: 'MAX_UNPROVEN_STREAMS, MAX_HELD_BYTES',
    appliesToLegacy: true,
    async run(attack) {
      const { target, signal } = attack
      const protocols = [
        '/mesh/vpn/1',
        '/mesh/replication/1',
        '/mesh/peers/1',
        '/meshsub/1.1.0',
        HOP,
        DHT,
        '/ipfs/id/1.0.0',
      ]
      let sent = 0
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          const connection = await dialTarget(await attack.peer(), target, signal)
          while (!signal.aborted && connection.status === 'open') {
            for (const protocol of protocols) {
              const stream = await openStream(connection, protocol, signal).catch(() => undefined)
              if (stream === undefined) continue
              void sendAll(stream, Buffer.concat([varint(1 << 20), randomBytes(1 << 20)]), signal)
              sent++
            }
            await pause(20, signal)
          }
        }),
      )
      return `${sent} streams`
    },
  },
  {
    name: 'relay-reservations',
    who: 'stranger',
    does: 'asks for relay reservations with a fresh key each time',
    boundedBy: 'membership, MAX_RELAY_RESERVATIONS',
    appliesToLegacy: true,
    async run(attack) {
      const { signal, target } = attack
      const reserve = Buffer.from([0x08, 0x00])
      let asked = 0
      while (!signal.aborted) {
        try {
          const connection = await dialTarget(await attack.peer(), target, signal)
          const stream = await openStream(connection, HOP, signal)
          stream.send(framed(reserve))
          asked++
          await pause(20, signal)
        } catch {
          await pause(20, signal)
        }
      }
      return `${asked} reservations asked for`
    },
  },
]
