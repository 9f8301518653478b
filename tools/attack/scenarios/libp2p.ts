/** Attacks on what libp2p itself answers to anybody. */
import { randomBytes } from 'node:crypto'
import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import type { Attack, Scenario } from '../scenario.ts'
import {
  dialTarget,
  framed,
  openStream,
  overAndOver,
  sendAll,
  sendMuch,
  together,
  varint,
} from '../attackers.ts'
import { connectMember } from '../membership.ts'
import { overSocket, peerPortOf } from '../sockets.ts'
import { pause } from '../until-true.ts'

/** The part of a connection that opens streams without negotiating anything on them, and pings. */
interface Muxed {
  readonly muxer?: {
    createStream(): Promise<{ send(bytes: Uint8Array): void }>
    sendPing?(id: number): void
    handlePing?(header: unknown): void
  }
}

const IDENTIFY_PUSH = '/ipfs/id/push/1.0.0'
const PING = '/ipfs/ping/1.0.0'
/** What a member's streams are for that end as soon as they are agreed on. */
const SHORT_LIVED = { mesh: '/mesh/replication/1', legacy: PING } as const
const HOP = '/libp2p/circuit/relay/0.2.0/hop'
const DHT = '/ipfs/kad/1.0.0'

/** Calls `act` over and over on a connection of a stranger, which is made anew when it ends. */
async function overConnections(
  attack: Attack,
  act: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const { signal, target } = attack
  await overAndOver(
    attack,
    async () => {
      const connection = await dialTarget(await attack.peer(), target, signal)
      while (!signal.aborted && connection.status === 'open') await act(connection)
    },
    20,
  )
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
    boundedBy: 'UNPROVEN_STREAM_RATE, MAX_REFUSED_STREAMS',
    legacy: {},
    aim: 'streams',
    run: (attack) =>
      overConnections(attack, async (connection) => {
        await together(50, async () => {
          const stream = await openStream(connection, PING, attack.signal)
          attack.tally.count('streams')
          await stream.close()
        })
      }),
  },
  {
    name: 'member-substreams',
    who: 'member',
    does: '8 keys of a member open streams, 50 at a time, and reset them as soon as they are agreed on',
    boundedBy: 'the loop budget',
    legacy: {},
    aim: 'streams',
    run: (attack) =>
      together(8, () =>
        overAndOver(attack, async () => {
          const { connection } = await connectMember(attack)
          while (connection.status === 'open' && !attack.signal.aborted) {
            await together(50, async () => {
              const stream = await openStream(connection, SHORT_LIVED[attack.target.kind], attack.signal)
              attack.tally.count('streams')
              stream.abort(new Error('and the next'))
            })
          }
        }),
      ),
  },
  {
    name: 'identify-push',
    who: 'stranger',
    does: 'pushes identify messages full of addresses and protocols without pause',
    boundedBy: 'IDENTIFIES, UNPROVEN_STREAM_RATE',
    legacy: {},
    aim: 'pushes',
    run: (attack) =>
      overConnections(attack, async (connection) => {
        const stream = await openStream(connection, IDENTIFY_PUSH, attack.signal)
        stream.send(framed(hugeIdentify()))
        attack.tally.count('pushes')
        await stream.close()
      }),
  },
  {
    name: 'pings',
    who: 'stranger',
    does: 'pings without pause on several streams',
    boundedBy: 'PINGS, MAX_PING_STREAMS, UNPROVEN_STREAM_RATE',
    legacy: {},
    aim: 'blocks of 1,024 pings',
    run: (attack) =>
      overConnections(attack, async (connection) => {
        const { signal, tally } = attack
        const stream = await openStream(connection, PING, signal)
        while (await sendAll(stream, randomBytes(32 * 1024), signal)) {
          tally.count('blocks of 1,024 pings')
          await pause(1, signal)
        }
      }),
  },
  {
    name: 'muxer-pings',
    who: 'stranger',
    does: 'pings of the muxer itself without pause on 8 connections, thousands in each block of bytes',
    boundedBy: 'PINGS, MAX_REFUSED_PINGS, the loop budget',
    legacy: {},
    aim: 'pings of the muxer',
    run: (attack) =>
      together(8, () =>
        overConnections(attack, async (connection) => {
          const { muxer } = connection as unknown as Muxed
          // nobody waits for the answers, which the library would take for an attack
          if (muxer !== undefined) muxer.handlePing = () => {}
          for (let at = 0; at < 2_000 && connection.status === 'open'; at++) {
            muxer?.sendPing?.(at)
            attack.tally.count('pings of the muxer')
          }
          await pause(5, attack.signal)
        }),
      ),
  },
  {
    name: 'slow-negotiation',
    who: 'stranger',
    does: '500 TCP connections say nothing, and streams on 8 connections never finish their negotiation',
    boundedBy: 'PENDING_INBOUND, ACCEPTING_SOCKETS, MAX_EARLY_STREAMS',
    legacy: {},
    aim: 'streams that stay half-open',
    async run(attack) {
      const { target, signal, tally } = attack
      const silent = together(500, () =>
        overAndOver(
          attack,
          () => overSocket(attack, peerPortOf(target), () => tally.count('silent connections')),
          // sooner, and its process would have no time for the attacks beside it
          500,
        ),
      )
      const halfOpen = together(8, () =>
        overAndOver(attack, async () => {
          const connection = await dialTarget(await attack.peer(), target, signal)
          const { muxer } = connection as unknown as Muxed
          for (let at = 0; at < 200 && !signal.aborted; at++) {
            const stream = await muxer?.createStream()
            stream?.send(Buffer.from('\x13/multistream'))
            tally.count('streams that stay half-open')
          }
          while (!signal.aborted && connection.status === 'open') await pause(50, signal)
        }),
      )
      await Promise.all([silent, halfOpen])
    },
  },
  {
    name: 'windows',
    who: 'stranger',
    does: 'fills the receive windows of as many streams as it may open on every protocol, from 16 keys',
    boundedBy: 'UNPROVEN_STREAMS, MAX_HELD_BYTES',
    legacy: {},
    aim: 'KiB of windows',
    async run(attack) {
      const { target, signal, tally } = attack
      const protocols = [
        '/mesh/vpn/1',
        '/mesh/replication/1',
        '/mesh/peers/1',
        '/meshsub/1.1.0',
        HOP,
        DHT,
        '/ipfs/id/1.0.0',
      ]
      const bytes = Buffer.concat([varint(1 << 20), randomBytes(1 << 20)])
      await together(16, () =>
        overAndOver(attack, async () => {
          const connection = await dialTarget(await attack.peer(), target, signal)
          while (!signal.aborted && connection.status === 'open') {
            for (const protocol of protocols) {
              const stream = await openStream(connection, protocol, signal).catch((error: unknown) => {
                tally.missed(error, signal)
              })
              if (stream === undefined) continue
              tally.count('streams')
              void sendMuch(stream, bytes, signal).then((sent) => tally.count('KiB of windows', sent / 1024))
            }
            await pause(20, signal)
          }
        }),
      )
    },
  },
  {
    name: 'relay-reservations',
    who: 'stranger',
    does: 'asks for relay reservations with a fresh key each time',
    boundedBy: 'membership, RELAY_RESERVATIONS',
    legacy: { meaningless: 'relays only where the internet reaches it' },
    aim: 'reservations asked for',
    async run(attack) {
      const { signal, target, tally } = attack
      const reserve = Buffer.from([0x08, 0x00])
      await overAndOver(
        attack,
        async () => {
          const connection = await dialTarget(await attack.peer(), target, signal)
          const stream = await openStream(connection, HOP, signal)
          stream.send(framed(reserve))
          tally.count('reservations asked for')
        },
        20,
      )
    },
  },
]
