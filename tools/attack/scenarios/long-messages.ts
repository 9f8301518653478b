/** Attacks by messages that cost more to read than to send: thousands of fields, and ids as long as a message. */
import { randomBytes } from 'node:crypto'
import { generateKeyPair, publicKeyToProtobuf } from '@libp2p/crypto/keys'
import { RPC } from '@libp2p/gossipsub/message'
import type { PublicKey } from '@libp2p/interface'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, openStream, overAndOver, sendAll, together, varint } from '../attackers.ts'
import {
  createSealing,
  GOSSIP_PROTOCOL,
  gossipFrame,
  gzippedBlock,
  openGossip,
  signAs,
  signMessage,
} from '../gossip.ts'
import { pause } from '../until-true.ts'
import { createMember, heartbeatOf } from '../voice.ts'

const IDENTIFY_PUSH = '/ipfs/id/push/1.0.0'
const HOP = '/libp2p/circuit/relay/0.2.0/hop'
const KIB = 1024
/** The codes of `/ip4`, `/tcp` and `/p2p` in an address. */
const [IP4, TCP, P2P] = [4, 6, 421]
const CONNECT = 1
/** A field of a frame of gossip that nobody knows, and how long it is. */
const [UNKNOWN, PADDING_BYTES] = [15, 18 * KIB * KIB]

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
const numberField = (number: number, value: number) => Buffer.concat([varint(number << 3), varint(value)])

/** Repeats a piece until there are so many bytes. */
const repeated = (piece: Uint8Array, bytes: number) =>
  Buffer.concat(Array.from({ length: Math.floor(bytes / piece.length) }, () => piece))

/** A peer's id that holds its key, and so many bytes that say nothing. */
function longId(publicKey: PublicKey, bytes: number): Uint8Array {
  const digest = Buffer.concat([publicKeyToProtobuf(publicKey), field(15, Buffer.alloc(bytes, 1))])
  return Buffer.concat([varint(0), varint(digest.length), digest])
}

/** An address that ends with a peer's id of so many bytes. */
const addressWith = (id: Uint8Array) =>
  Buffer.concat([Uint8Array.of(IP4, 192, 0, 2, 1, TCP, 0x10, 0), varint(P2P), varint(id.length), id])

/** Names of messages that are had or wanted, without a byte each, as many as one list may have in each of 256 lists. */
function emptyIds(): Uint8Array {
  const iHave = field(1, repeated(field(2, new Uint8Array()), 10_000))
  const iWant = field(2, repeated(field(1, new Uint8Array()), 10_000))
  return field(3, Buffer.concat([...Array(200).fill(iHave), ...Array(200).fill(iWant)] as Uint8Array[]))
}

/** Names of messages that are not wanted, of 32 KiB each, which are kept for a while. */
function longIds(seed: number): Uint8Array {
  const ids = Array.from({ length: 32 }, (_, at) => field(1, Buffer.alloc(32 * KIB, `${seed}-${at}-`)))
  return field(3, field(5, Buffer.concat(ids)))
}

/** Sends messages on a stream of a protocol, over and over on a stranger's connection. */
async function overStreams(
  attack: Attack,
  protocol: string,
  messages: () => AsyncIterable<Uint8Array>,
): Promise<void> {
  const { signal, target, tally } = attack
  await overAndOver(
    attack,
    async () => {
      const connection = await dialTarget(await attack.peer(), target, signal)
      while (!signal.aborted && connection.status === 'open') {
        const stream = await openStream(connection, protocol, signal)
        for await (const message of messages()) {
          if (!(await sendAll(stream, framed(message), signal))) break
          tally.count('messages')
        }
        await pause(20, signal)
      }
    },
    20,
  )
}

/** Says what `make` gives on the topic, one message after the other on each of a member's streams, with a pause after each. */
async function sayOverAndOver(
  attack: Attack,
  pauseMs: number,
  make: (sealing: Sealing) => Promise<RPC.Message>,
): Promise<void> {
  const { signal, target, tally, config } = attack
  const sealing = createSealing(config)
  await overAndOver(attack, async () => {
    const connection = await dialTarget(await attack.peer(), target, signal)
    const stream = await openGossip(connection, [sealing.topic()], signal)
    while (stream.status === 'open' && !signal.aborted) {
      const frame = gossipFrame({ messages: [await make(sealing)] })
      if (!(await sendAll(stream, frame, signal))) break
      tally.count('messages')
      await pause(pauseMs, signal)
    }
  })
}

type Sealing = ReturnType<typeof createSealing>

/** Says a heartbeat under a fresh author in each frame, with as much of nothing behind it as a frame may have. */
async function sayPadded(attack: Attack): Promise<void> {
  const { signal, target, tally, config } = attack
  const sealing = createSealing(config)
  const nothing = field(UNKNOWN, Buffer.alloc(PADDING_BYTES))
  const connection = await dialTarget(await attack.peer(), target, signal)
  const stream = await openGossip(connection, [sealing.topic()], signal)
  while (stream.status === 'open' && !signal.aborted) {
    const { seed, signer } = createMember()
    const block = sealing.envelope(gzippedBlock([heartbeatOf(signer)]))
    const message = await signMessage(seed, sealing.topic(), block)
    const rpc = RPC.encode({ subscriptions: [], messages: [message] })
    if (!(await sendAll(stream, framed(Buffer.concat([rpc, nothing])), signal))) break
    tally.count('messages')
  }
}

export const MESSAGE_ATTACKS: readonly Scenario[] = [
  {
    name: 'gossip-fields',
    who: 'stranger',
    does: 'frames of gossip with millions of names of messages that have no byte, from 3 connections',
    boundedBy: 'MAX_RPC_FIELDS',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const frame = emptyIds()
      await together(3, () =>
        overStreams(attack, GOSSIP_PROTOCOL, async function* () {
          yield frame
        }),
      )
    },
  },
  {
    name: 'gossip-names',
    who: 'stranger',
    does: 'names of messages of 32 KiB each that are not wanted, in frames of 32, from 8 connections',
    boundedBy: 'MAX_GOSSIP_ID_BYTES',
    legacy: {},
    aim: 'messages',
    run: (attack) =>
      together(8, (at) =>
        overStreams(attack, GOSSIP_PROTOCOL, async function* () {
          for (let round = 0; !attack.signal.aborted; round++) {
            yield longIds(at * 1_000 + round)
            await pause(100, attack.signal)
          }
        }),
      ),
  },
  {
    name: 'long-authors',
    who: 'member',
    does: 'messages on the topic whose author has an id of 128 KiB',
    boundedBy: 'MAX_GOSSIP_ID_BYTES',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const key = await generateKeyPair('Ed25519')
      const author = longId(key.publicKey, 128 * KIB)
      await sayOverAndOver(attack, 200, (sealing) => {
        const said = { topic: sealing.topic(), data: sealing.envelope(Buffer.from('{}')) }
        return signAs(key, author, said)
      })
    },
  },
  {
    name: 'listed-envelopes',
    who: 'member',
    does: 'messages on the topic of 14 MB whose envelope is a list of millions of empty lists',
    boundedBy: 'LONG_MESSAGE_BYTES: a long one must be as nodes write it; MAX_ENVELOPE_PARTS',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const data = Buffer.from(`{"a":[${'[],'.repeat(4_600_000)}[]]}`)
      await sayOverAndOver(attack, 100, (sealing) => signMessage(randomBytes(32), sealing.topic(), data))
    },
  },
  {
    name: 'other-envelopes',
    who: 'member',
    does: 'messages of 14 MB on the topic whose envelope is written in another way than nodes write it',
    boundedBy: 'LONG_MESSAGE_BYTES: a long one must be as nodes write it',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const plaintext = randomBytes(7 * KIB * KIB - KIB)
      await sayOverAndOver(attack, 100, (sealing) => {
        const data = Buffer.from(`{ "SenderID": "", "message": "${sealing.seal(plaintext)}" }`)
        return signMessage(randomBytes(32), sealing.topic(), data)
      })
    },
  },
  {
    name: 'padded-messages',
    who: 'member',
    does: 'heartbeats under fresh authors that stand, each in a frame of its own with 18 MiB behind it that mean nothing',
    boundedBy: 'what is kept of a frame is copied, MAX_CACHED_MESSAGE_BYTES; MAX_HELD_BYTES',
    legacy: {},
    aim: 'messages',
    run: (attack) => overAndOver(attack, () => sayPadded(attack)),
  },
  {
    name: 'relay-messages',
    who: 'stranger',
    does: 'asks for circuits to peers whose ids have 64 KiB, or that have 100,000 addresses',
    boundedBy: 'MAX_RELAY_MESSAGE_BYTES, MAX_PEER_ID_BYTES',
    legacy: { meaningless: 'relays only where the internet reaches it' },
    aim: 'messages',
    async run(attack) {
      const { publicKey } = await generateKeyPair('Ed25519')
      const id = field(1, longId(publicKey, 64 * KIB))
      const addresses = repeated(field(2, Uint8Array.of(IP4, 192, 0, 2, 1, TCP, 0x10, 0)), 1_000 * KIB)
      const asked = [id, addresses].map((peer) => Buffer.concat([numberField(1, CONNECT), field(2, peer)]))
      await together(2, (at) =>
        overStreams(attack, HOP, async function* () {
          yield asked[at] ?? Buffer.alloc(0)
        }),
      )
    },
  },
  {
    name: 'identify-lists',
    who: 'stranger',
    does: 'pushes identify messages with hundreds of addresses, or with one that ends with an id of 8 KB, ten in a stream',
    boundedBy: 'MAX_IDENTIFY_STREAM_BYTES, MAX_PEER_ID_BYTES, IDENTIFIES',
    legacy: {},
    aim: 'messages',
    async run(attack) {
      const { publicKey } = await generateKeyPair('Ed25519')
      const many = repeated(field(2, Uint8Array.of(IP4, 192, 0, 2, 1, TCP, 0x10, 0)), 8_000)
      const long = field(2, addressWith(longId(publicKey, 7_900)))
      await together(2, (at) =>
        overStreams(attack, IDENTIFY_PUSH, async function* () {
          for (let count = 0; count < 10; count++) yield at === 0 ? many : long
        }),
      )
    },
  },
]
