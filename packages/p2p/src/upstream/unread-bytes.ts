/**
 * Bounds what waits on streams that nobody reads now, of all connections together. Version 7.4.1 of @libp2p/utils keeps
 * it for each stream alone: up to the window of 256 KiB and more of yamux, and 4 MiB of WebRTC, which has none. Members may
 * have hundreds of streams to each service of a node, whose target reads slowly or not at all. Frames of one byte take
 * much more than a byte, and a small part of a message keeps all of it in memory: small pieces are copied, and count for more.
 *
 * Reaches into a stream's `onData`, `readBufferLength` and `readStatus`; where they are missing nothing is bounded.
 * Without it `unread-bytes.test.ts` fails; `npm run attack -- service-writers small-frames` fills such streams.
 */
import type { Connection } from '@libp2p/interface'
import { copyOf, isSmallPart, type SharedBytes, type WaitingBytes } from '@mesh/core'
import { Uint8ArrayList } from 'uint8arraylist'
import { addressGroupOf } from '../addresses/address-group.ts'
import { chargeOf, countHeldByLibrary, heldOf, isHeld } from './held-by-readers.ts'
import { watchStreams } from './muxed-streams.ts'

/** How long a piece is that is copied into a block with others, in bytes, and how long that block is. */
const [SHORT_PIECE_BYTES, BLOCK_BYTES] = [1_024, 4_096]

interface ReadStream {
  readonly readBufferLength?: number
  readonly readStatus?: string
  readonly status?: string
  onData?: (bytes: Uint8ArrayList | Uint8Array) => void
  abort(error: Error): void
}

/** Counts what waits on all streams of a connection; the bound ends those that hold the most. */
export function boundUnread(connection: Connection, unread: SharedBytes): void {
  const from = { peer: connection.remotePeer.toString(), address: addressGroupOf(connection) }
  watchStreams<ReadStream>(connection, (stream) => countUnread(stream, from, unread))
}

function countUnread(
  stream: ReadStream,
  from: { readonly peer: string; readonly address: string },
  unread: SharedBytes,
): void {
  const onData = stream.onData?.bind(stream)
  if (onData === undefined || stream.readBufferLength === undefined) return
  countHeldByLibrary(stream)
  /** The bytes that the pieces which wait count for beside their own. */
  let overhead = 0
  const copies = new Copies()
  const waiting = (): number => (stream.readBufferLength ?? 0) + heldOf(stream)
  const holder: WaitingBytes = {
    ...from,
    // one that has ended is not referred to any more, but by whoever still reads it
    count: () => (isEnded(stream) || waiting() === 0 ? 0 : waiting() + overhead),
    end: (reason) => stream.abort(reason),
  }
  unread.count(holder)
  stream.onData = (bytes) => {
    const before = waiting()
    if (before === 0) overhead = 0
    const unreadBefore = stream.readBufferLength ?? 0
    const mayWait = before > 0 || stream.readStatus === 'paused' || isHeld(stream)
    onData(mayWait ? copies.of(bytes) : bytes)
    if (waiting() <= before) return
    if ((stream.readBufferLength ?? 0) > unreadBefore) overhead += chargeOf(bytes) - bytes.byteLength
    unread.count(holder)
  }
}

const isEnded = ({ status }: ReadStream) => status !== 'open' && status !== 'closing'

/** Copies of pieces that are a small part of their block of memory. */
class Copies {
  #block = new Uint8Array(0)
  #used = 0

  /** The piece itself where it is most of its block; parts of several blocks are put together. */
  of(bytes: Uint8ArrayList | Uint8Array): Uint8ArrayList {
    const piece = bytes instanceof Uint8Array ? bytes : bytes.subarray()
    if (!isSmallPart(piece)) return new Uint8ArrayList(piece)
    return new Uint8ArrayList(piece.byteLength > SHORT_PIECE_BYTES ? copyOf(piece) : this.#short(piece))
  }

  #short(piece: Uint8Array): Uint8Array {
    if (this.#used + piece.byteLength > this.#block.byteLength) {
      this.#block = new Uint8Array(BLOCK_BYTES)
      this.#used = 0
    }
    const copy = this.#block.subarray(this.#used, this.#used + piece.byteLength)
    copy.set(piece)
    this.#used += piece.byteLength
    return copy
  }
}
