/** Floods of what nodes tell and ask each other beside gossip: records of peers, questions to the DHT, circuits. */
import { randomBytes } from 'node:crypto'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, PeerId, Stream } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { Attack, Scenario } from '../scenario.ts'
import {
  dialTarget,
  framed,
  onFrames,
  openStream,
  overAndOver,
  sendAll,
  sendForEver,
  sendMuch,
  together,
  varint,
} from '../attackers.ts'
import { connectMember, proveMembership } from '../membership.ts'
import { RefusedError } from '../tally.ts'
import { field, openTelling, type Told, toldOf } from '../telling.ts'
import { pause } from '../until-true.ts'

const DHT = '/mesh/kad/1.0.0'
const HOP = '/libp2p/circuit/relay/0.2.0/hop'
const STOP = '/libp2p/circuit/relay/0.2.0/stop'
/** What a relay answers when all is well. */
const STATUS_OK = 100
const RECORDS_IN_MESSAGE = 64
const TELLERS = 8
const CIRCUIT_PEERS = 8
/** Keys whose streams are filled behind what they ask. */
const FILLERS = 8
/** How many streams of each protocol one key opens before it fills them. */
const FILLED_STREAMS = 30
/** How many circuits one key fills to each key that the victim relays for. */
const FILLED_CIRCUITS = 4

const numberField = (number: number, value: number) => Buffer.concat([varint(number << 3), varint(value)])

/** A signed record of a peer that nobody has heard of. */
async function freshRecord(): Promise<Told> {
  const addresses = Array.from({ length: 8 }, (_, at) => multiaddr(`/ip4/192.0.2.${at + 1}/tcp/4001`))
  return await toldOf(await generateKeyPair('Ed25519'), addresses)
}

/** A question of the DHT: what it is about, and for a record that is left who has it. */
function dhtMessage(type: number, key: Uint8Array, self: PeerId): Uint8Array {
  const provider = Buffer.concat([
    field(1, self.toMultihash().bytes),
    field(2, multiaddr('/ip4/192.0.2.1/tcp/4001').bytes),
  ])
  return Buffer.concat([numberField(1, type), field(2, key), field(9, provider)])
}

const [ADD_PROVIDER, GET_PROVIDERS, FIND_NODE] = [2, 3, 4]

const randomPeer = async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))

/** A multihash of random bytes, as CIDs are made of. */
const randomDigest = () => Buffer.concat([Uint8Array.of(0x12, 32), randomBytes(32)])

export const FLOOD_ATTACKS: readonly Scenario[] = [
  {
    name: 'peer-records',
    who: 'member',
    does: `${TELLERS} keys tell of ${RECORDS_IN_MESSAGE} peers in each message, whose records were just signed, and of how to reach them`,
    boundedBy: 'NEW_RECORDS, MAX_EXCHANGE_MESSAGES_PER_MINUTE, MAX_VAIN_DIALS_PER_MINUTE',
    legacy: {},
    aim: 'records told',
    async run(attack) {
      const { signal, tally } = attack
      await together(TELLERS, () =>
        overAndOver(attack, async () => {
          const telling = await openTelling(attack)
          while (telling.isOpen()) {
            const records = await Promise.all(Array.from({ length: RECORDS_IN_MESSAGE }, freshRecord))
            if (await telling.tell(records)) tally.count('records told', records.length)
            await pause(10, signal)
          }
        }),
      )
    },
  },
  {
    name: 'dht-records',
    who: 'stranger',
    does: 'leaves a record under a fresh name in the DHT of a private network, and asks for names and peers, without pause on 8 connections',
    boundedBy: 'DHT_RECORDS, DHT_QUESTIONS, MAX_DHT_RECORDS',
    legacy: { meaningless: 'asks a DHT, and answers none where the internet does not reach it' },
    needs: ['--dht', '--no-peer-exchange'],
    aim: 'answers',
    async run(attack) {
      const { signal, target, tally } = attack
      await together(8, () =>
        overAndOver(attack, async () => {
          const peer = await attack.peer()
          const connection = await dialTarget(peer, target, signal)
          while (!signal.aborted && connection.status === 'open') {
            const stream = await openStream(connection, DHT, signal)
            onFrames(stream, () => tally.count('answers'))
            for (let asked = 0; !signal.aborted && stream.status === 'open'; asked++) {
              const type = [ADD_PROVIDER, GET_PROVIDERS, FIND_NODE][asked % 3] ?? FIND_NODE
              const message = dhtMessage(type, cidOf(type), peer.peerId)
              if (!(await sendAll(stream, framed(message), signal))) break
              tally.count('questions')
              if (asked % 16 === 0) await pause(1, signal)
            }
          }
        }),
      )
    },
  },
  {
    name: 'circuits',
    who: 'member',
    does: `${CIRCUIT_PEERS} keys have the victim relay for them, and as many others open circuits to each of them over and over`,
    boundedBy: 'MAX_RELAY_CIRCUITS_PER_PEER, MAX_RELAY_CIRCUITS_PER_ADDRESS, RELAY_RESERVATIONS',
    legacy: { meaningless: 'relays only where the internet reaches it' },
    aim: 'circuits',
    async run(attack) {
      const { signal } = attack
      await askForCircuits(attack, async (connection, to) => {
        await openCircuit(attack, { connection, to })
        await pause(5, signal)
      })
    },
  },
  {
    name: 'unread-circuits',
    who: 'member',
    does: `${CIRCUIT_PEERS} keys have the victim relay for them and read nothing of it, and as many others fill ${FILLED_CIRCUITS} circuits to each of them`,
    boundedBy: 'RELAY_HIGH_WATER_BYTES, UNREAD_BYTES',
    legacy: { meaningless: 'relays only where the internet reaches it' },
    aim: 'blocks of 64 KiB',
    async run(attack) {
      const { signal, tally } = attack
      const block = Buffer.alloc(64 * 1024)
      const fill = async (stream: Stream) =>
        await sendForEver(block, async (bytes) => {
          const isSent = await sendAll(stream, bytes, signal)
          if (isSent) tally.count('blocks of 64 KiB')
          return isSent
        })
      const filled = new Set<string>()
      await askForCircuits(
        attack,
        async (connection, to) => {
          const way = `${connection.id} ${to}`
          if (filled.has(way)) return
          filled.add(way)
          const streams = Array.from({ length: FILLED_CIRCUITS }, () =>
            openCircuit(attack, { connection, to }),
          )
          for (const stream of await Promise.all(streams)) void fill(stream)
        },
        { readsNothing: true },
      )
    },
  },
  {
    name: 'filled-behind',
    who: 'member',
    does: `asks for a circuit that there is not, and the DHT for names and reads no answer, on as many streams as ${FILLERS} keys may open, and fills each of them behind the question`,
    boundedBy: 'UNREAD_BYTES',
    legacy: { meaningless: 'relays, and answers a DHT, only where the internet reaches it' },
    needs: ['--dht', '--no-peer-exchange'],
    aim: 'KiB behind a question',
    async run(attack) {
      const { signal, tally } = attack
      const someone = field(1, (await randomPeer()).toMultihash().bytes)
      const circuit = framed(Buffer.concat([numberField(1, 1), field(2, someone)]))
      await together(FILLERS, (at) =>
        overAndOver(attack, async () => {
          const { connection, self } = await connectMember(attack, `127.0.5.${at + 1}`)
          const question = () => framed(dhtMessage(FIND_NODE, randomDigest(), self))
          const questions = Buffer.concat(Array.from({ length: 800 }, question))
          const ways = [
            [HOP, circuit, Buffer.alloc(64 * 1024)],
            [DHT, question(), questions],
          ] as const
          while (!signal.aborted && connection.status === 'open') {
            const fills: (() => Promise<void>)[] = []
            for (let opened = 0; opened < FILLED_STREAMS; opened++) {
              for (const [protocol, first, more] of ways) {
                const stream = await openStream(connection, protocol, signal)
                tally.count('streams')
                if (stream.status !== 'open') continue
                stream.pause()
                stream.send(first)
                fills.push(() =>
                  sendForEver(more, async (bytes) => {
                    const sent = await sendMuch(stream, bytes, signal)
                    tally.count('KiB behind a question', Math.round(sent / 1024))
                    return sent === bytes.length
                  }),
                )
              }
            }
            await Promise.all(fills.map((fill) => fill()))
          }
        }),
      )
    },
  },
]

/** A record is left under a CID, and asked for under its digest. */
function cidOf(type: number): Uint8Array {
  const digest = randomDigest()
  return type === ADD_PROVIDER ? Buffer.concat([Uint8Array.of(1, 0x55), digest]) : digest
}

interface Relayed {
  /** Whether they take circuits and read nothing of what comes on them. */
  readonly readsNothing?: boolean
}

/** Keys that the victim relays for, and as many others that are told of each of them, over and over. */
async function askForCircuits(
  attack: Attack,
  ask: (connection: Connection, to: PeerId) => Promise<void>,
  how: Relayed = {},
): Promise<void> {
  const { signal } = attack
  const relayed = new Set<PeerId>()
  const relaying = together(CIRCUIT_PEERS, () => overAndOver(attack, () => beRelayed(attack, relayed, how)))
  const asking = together(CIRCUIT_PEERS, () =>
    overAndOver(attack, async () => {
      const { connection } = await connectMember(attack)
      while (!signal.aborted && connection.status === 'open') {
        for (const to of relayed) await ask(connection, to)
        await pause(5, signal)
      }
    }),
  )
  await Promise.all([relaying, asking])
}

/** Asks the victim to relay to a peer. @returns the stream, on which the answer is counted when it comes */
async function openCircuit(
  { signal, tally }: Attack,
  { connection, to }: { readonly connection: Connection; readonly to: PeerId },
): Promise<Stream> {
  const stream = await openStream(connection, HOP, signal)
  tally.count('circuits asked for')
  onFrames(stream, (frame) => {
    if (isOk(frame)) tally.count('circuits')
    else tally.missed(new RefusedError('no circuit'), signal)
  })
  const asked = Buffer.concat([numberField(1, 1), field(2, field(1, to.toMultihash().bytes))])
  stream.send(framed(asked))
  return stream
}

/** A member that has the victim relay for it, and takes every circuit, as long as its connection lasts. */
async function beRelayed(
  attack: Attack,
  relayed: Set<PeerId>,
  { readsNothing = false }: Relayed,
): Promise<void> {
  const { target, signal, config } = attack
  const peer = await attack.peer()
  const accepted = Buffer.concat([numberField(1, 1), numberField(4, STATUS_OK)])
  await peer.handle(STOP, (stream) =>
    onFrames(stream, () => {
      stream.send(framed(accepted))
      if (readsNothing) stream.pause()
    }),
  )
  const connection = await dialTarget(peer, target, signal)
  await proveMembership({ connection, self: peer.peerId }, config, signal)
  const stream = await openStream(connection, HOP, signal)
  stream.send(framed(numberField(1, 0)))
  relayed.add(peer.peerId)
  while (!signal.aborted && connection.status === 'open') await pause(50, signal)
  relayed.delete(peer.peerId)
}

/** True for an answer of a relay that carries the circuit: its status stands at the end. */
function isOk(frame: Uint8Array): boolean {
  return Buffer.from(frame).subarray(-2).equals(numberField(5, STATUS_OK).subarray(-2)) && frame.length < 64
}
