/** Attacks by what the multiplexer of a connection, and the negotiation of protocols, take from anybody. */
import { randomBytes } from 'node:crypto'
import type { Connection } from '@libp2p/interface'
import { YAMUX, yamuxHead } from '@mesh/testkit'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, openStream, overAndOver, together, varint } from '../attackers.ts'
import { GOSSIP_PROTOCOL } from '../gossip.ts'
import { overSocket, peerPortOf } from '../sockets.ts'
import { connectMember } from '../membership.ts'
import { pause } from '../until-true.ts'

/** The part of a connection that sends bytes as they are, and opens streams without negotiating anything on them. */
interface Muxed {
  readonly muxer?: {
    send(bytes: Uint8Array): boolean
    createStream(): Promise<MuxedStream>
  }
}

interface MuxedStream {
  readonly status: string
  send(bytes: Uint8Array): boolean
  addEventListener(type: 'message', listener: () => void): void
}

const MB = 1024 * 1024
/** What is not read on before a proof of membership; a legacy node asks for none, and reads a message of gossip to its end. */
const UNREAD = { mesh: '/mesh/peers/1', legacy: GOSSIP_PROTOCOL } as const
/** As much as one message of the encryption below carries. */
const BLOCK_BYTES = 60 * 1024
/** The least that is copied by itself, and the number of a stream that there is not. */
const [SPARSE_BYTES, NO_STREAM] = [1_100, 99_999]

const line = (text: string) => framed(Buffer.from(`${text}\n`))

/** As many lines as a stream's first window takes: questions for the list of protocols, and names of none. */
const askedLines = () =>
  Buffer.concat([
    line('/multistream/1.0.0'),
    ...Array.from({ length: 20_000 }, (_, at) => line(at % 2 === 0 ? 'ls' : 'x')),
  ])

/** Sends without minding what the library would hold back. */
async function sendRaw(connection: Connection, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  const { muxer } = connection as unknown as Muxed
  muxer?.send(bytes)
  const { maConn } = connection as unknown as { readonly maConn?: { readonly writeBufferLength: number } }
  while (!signal.aborted && connection.status === 'open' && (maConn?.writeBufferLength ?? 0) > 4 * MB)
    await pause(2, signal)
}

/** Sends blocks of bytes for as long as the connection lasts, and again on another one. */
async function overConnections(
  attack: Attack,
  open: () => Promise<Connection>,
  block: (at: number) => Uint8Array,
): Promise<void> {
  const { signal, tally } = attack
  await overAndOver(
    attack,
    async () => {
      const connection = await open()
      for (let at = 0; !signal.aborted && connection.status === 'open'; at++) {
        await sendRaw(connection, block(at), signal)
        tally.count('blocks')
        await pause(1, signal)
      }
    },
    20,
  )
}

const strangerOf = (attack: Attack) => async () =>
  await dialTarget(await attack.peer(), attack.target, attack.signal)

/** Streams that begin and end in one frame; their numbers are those that the dialling side gives. */
function shortStreams(at: number): Uint8Array {
  const count = BLOCK_BYTES / 12
  return Buffer.concat(
    Array.from({ length: count }, (_, n) =>
      yamuxHead({
        type: YAMUX.WINDOW_UPDATE,
        flags: YAMUX.SYN | YAMUX.RST,
        stream: 2 * (at * count + n) + 1_001,
      }),
    ),
  )
}

/** GoAway, and then bytes without end. */
const goneAway = (at: number) =>
  at === 0 ? yamuxHead({ type: YAMUX.GO_AWAY, flags: 0, stream: 0 }) : Buffer.alloc(BLOCK_BYTES)

/** As many frames of one byte each as a stream's first window takes, in blocks of them: one long message of gossip, or unread. */
async function sendSmallFrames(attack: Attack, isGossip: boolean): Promise<void> {
  const { signal, tally } = attack
  const connection = await strangerOf(attack)()
  for (let opened = 0; opened < 8; opened++) {
    const stream = await openStream(
      connection,
      isGossip ? GOSSIP_PROTOCOL : UNREAD[attack.target.kind],
      signal,
    )
    if (isGossip) stream.send(varint(10 * MB))
    const { streamId } = stream as unknown as { readonly streamId: number }
    const frame = Buffer.concat([
      yamuxHead({ type: YAMUX.DATA, flags: 0, stream: streamId, length: 1 }),
      Buffer.of(0),
    ])
    const block = Buffer.concat(Array.from({ length: 4_096 }, () => frame))
    for (let sent = 0; sent < 63 && !signal.aborted && connection.status === 'open'; sent++) {
      await sendRaw(connection, block, signal)
      tally.count('frames', 4_096)
    }
  }
  while (!signal.aborted && connection.status === 'open') await pause(50, signal)
}

/** Fills streams that wait for a proof of membership by pieces that are each a small part of what is decrypted at once. */
async function sendSparseFrames(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  const connection = await strangerOf(attack)()
  const frame = (stream: number, length: number) =>
    Buffer.concat([yamuxHead({ type: YAMUX.DATA, flags: 0, stream, length }), Buffer.alloc(length)])
  for (let opened = 0; opened < 8; opened++) {
    const stream = await openStream(connection, UNREAD[attack.target.kind], signal)
    if (attack.target.kind === 'legacy') stream.send(varint(10 * MB))
    const { streamId } = stream as unknown as { readonly streamId: number }
    // the rest is for a stream that there is not
    const block = Buffer.concat([
      frame(streamId, SPARSE_BYTES),
      frame(NO_STREAM, BLOCK_BYTES - 2 * SPARSE_BYTES),
    ])
    for (let sent = 0; sent < 230 && !signal.aborted && connection.status === 'open'; sent++) {
      await sendRaw(connection, block, signal)
      tally.count('pieces')
    }
  }
  while (!signal.aborted && connection.status === 'open') await pause(50, signal)
}

/** The part of a connection that encrypts, and what is beneath it. */
interface Encrypted {
  readonly muxer: {
    readonly maConn: {
      encrypt(bytes: Uint8Array): { subarray(): Uint8Array }
      readonly stream: { send(bytes: Uint8Array): boolean; readonly writeBufferLength: number }
    }
  }
}

/** Frames for a stream that there is not, of which each byte is encrypted by itself. */
async function sendSealedBytes(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  const connection = await strangerOf(attack)()
  const { maConn } = (connection as unknown as Encrypted).muxer
  const frame = Buffer.concat([
    yamuxHead({ type: YAMUX.DATA, flags: 0, stream: NO_STREAM, length: 2_000 }),
    Buffer.alloc(2_000),
  ])
  while (!signal.aborted && connection.status === 'open') {
    const block = Array.from(frame, (byte) => maConn.encrypt(Uint8Array.of(byte)).subarray())
    maConn.stream.send(Buffer.concat(block))
    tally.count('messages', block.length)
    const isFull = () => maConn.stream.writeBufferLength > MB
    do await pause(1, signal)
    while (!signal.aborted && connection.status === 'open' && isFull())
  }
}

export const MUXER_ATTACKS: readonly Scenario[] = [
  {
    name: 'muxer-frames',
    who: 'stranger',
    does: 'frames of the muxer that say to be 2 GiB long, and go on, on 4 connections',
    boundedBy: 'the receive window of the stream that a frame is for',
    legacy: {},
    aim: 'blocks',
    run: (attack) =>
      together(4, () =>
        overConnections(attack, strangerOf(attack), (at) =>
          at === 0
            ? yamuxHead({ type: YAMUX.DATA, flags: YAMUX.SYN, stream: 1_001, length: 2 ** 31 })
            : randomBytes(MB / 4),
        ),
      ),
  },
  {
    name: 'small-frames',
    who: 'stranger',
    does: 'frames of one byte each, 258,048 on each stream: a message of gossip, or what waits for a proof of membership, on 8 connections',
    boundedBy: 'UNREAD_BYTES, MAX_HELD_BYTES, the loop budget',
    legacy: {},
    aim: 'frames',
    run: (attack) => together(8, (at) => overAndOver(attack, () => sendSmallFrames(attack, at % 2 === 0))),
  },
  {
    name: 'sealed-bytes',
    who: 'stranger',
    does: 'messages of the encryption of one byte each, thousands in each block of bytes, on 8 connections',
    boundedBy: 'the loop budget',
    legacy: {},
    aim: 'messages',
    run: (attack) => together(8, () => overAndOver(attack, () => sendSealedBytes(attack))),
  },
  {
    name: 'sparse-frames',
    who: 'stranger',
    does: `pieces of ${SPARSE_BYTES} bytes for streams that wait for a proof of membership, each in a block of ${BLOCK_BYTES} with nothing else, on 12 connections`,
    boundedBy: 'UNREAD_BYTES; small pieces are copied',
    legacy: {},
    aim: 'pieces',
    run: (attack) => together(12, () => overAndOver(attack, () => sendSparseFrames(attack))),
  },
  {
    name: 'muxer-resets',
    who: 'member',
    does: 'streams that begin and end in one frame, thousands in each block of bytes, on 4 connections of members',
    boundedBy: 'the loop budget',
    legacy: {},
    aim: 'blocks',
    run: (attack) =>
      together(4, () =>
        overConnections(attack, async () => (await connectMember(attack)).connection, shortStreams),
      ),
  },
  {
    name: 'stranger-resets',
    who: 'stranger',
    does: 'streams that begin and end in one frame, thousands in each block of bytes, on 4 connections',
    boundedBy: 'the loop budget, UNPROVEN_STREAM_RATE, MAX_REFUSED_STREAMS',
    legacy: {},
    aim: 'blocks',
    run: (attack) => together(4, () => overConnections(attack, strangerOf(attack), shortStreams)),
  },
  {
    name: 'gone-away',
    who: 'stranger',
    does: 'sends GoAway on 4 connections, and goes on sending',
    boundedBy: 'GO_AWAY_CLOSE_MS, MAX_BYTES_AFTER_END',
    legacy: {},
    aim: 'blocks',
    run: (attack) => together(4, () => overConnections(attack, strangerOf(attack), goneAway)),
  },
  {
    name: 'negotiations',
    who: 'stranger',
    does: 'asks for the list of protocols, and for protocols that there are not, thousands of times on each stream, and before the handshake',
    boundedBy: 'MAX_NEGOTIATION_ANSWERS',
    legacy: {},
    aim: 'lines asked',
    async run(attack) {
      const lines = askedLines()
      await Promise.all([
        together(4, () => overAndOver(attack, () => askOnStreams(attack, lines), 20)),
        together(4, () => overAndOver(attack, () => askOnSocket(attack, lines), 20)),
      ])
    },
  },
]

async function askOnStreams(attack: Attack, lines: Uint8Array): Promise<void> {
  const { signal, tally } = attack
  const connection = await strangerOf(attack)()
  const { muxer } = connection as unknown as Muxed
  while (!signal.aborted && connection.status === 'open') {
    const stream = await muxer?.createStream()
    stream?.addEventListener('message', () => {})
    stream?.send(lines)
    tally.count('lines asked', 20_000)
    for (let waited = 0; stream?.status === 'open' && waited < 40; waited++) await pause(50, signal)
  }
}

async function askOnSocket(attack: Attack, lines: Uint8Array): Promise<void> {
  await overSocket(attack, peerPortOf(attack.target), (socket) => {
    socket.resume().write(lines)
    attack.tally.count('lines asked', 20_000)
  })
}
