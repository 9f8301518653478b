/**
 * Bounds what a stream brings and what waits on it, of all streams of the node together:
 *
 * 1. unread bytes, and bytes that a reader of libp2p took and still holds: it takes all that comes, up to 4 MiB. Such bytes count
 *    until this end answers, or the reader gives the stream back
 * 2. the answers of a negotiation: libp2p answers each line that asks for a protocol
 * 3. the messages of libp2p's own protocols, before their reader has them
 */
import { copyOf, isSmallPart } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import type { Uint8ArrayList } from 'uint8arraylist'
import { MAX_NEGOTIATION_ANSWERS } from '../limits.ts'
import { WaitingBytes } from '../waiting-bytes.ts'
import { LEAST_PIECE_BYTES } from './limits.ts'
import { isReadByLibrary, MessageWalk } from './message-bounds.ts'

type Bytes = Uint8Array | Uint8ArrayList

/** Whose streams they are, and what bounds them. */
export interface StreamOwner {
  readonly peer: string
  /** The group that its address counts under: `addressGroupOf`. */
  readonly address: string
  /** True for a known member. */
  readonly isTrusted: () => boolean
  /** Bytes that wait on the streams of all peers. */
  readonly unread: Scope
}

/** A stream of any muxer, as far as it is bounded here. */
export interface BoundStream {
  readonly protocol: string
  readonly direction: string
  readonly status: string
  readonly readStatus: string
  readonly readBufferLength: number
  abort(error: Error): void
}

/** Number of bytes that a piece counts for while it waits. */
export const chargeOf = ({ byteLength }: { readonly byteLength: number }): number =>
  Math.max(LEAST_PIECE_BYTES, byteLength)

export class StreamBounds {
  readonly #stream: BoundStream
  #waits: WaitingBytes | undefined
  /** Bytes that waiting pieces count for beside their own. */
  #overhead = 0
  /** Bytes that a reader of the library holds. */
  #held = 0
  /** Bytes that wait elsewhere, such as on the other side of a circuit. */
  #elsewhere = (): number => 0
  #isLeft = false
  #answers = 0
  #messages: MessageWalk | undefined

  constructor(stream: BoundStream) {
    this.#stream = stream
  }

  /** Says whose stream it is. Until then nothing counts. */
  own({ peer, address, isTrusted, unread }: StreamOwner): void {
    const end = (reason: Error) => this.#stream.abort(reason)
    this.#waits = new WaitingBytes({ peer, address, isUnproven: () => !isTrusted(), scope: unread, end })
    this.count()
  }

  /** Counts what waits elsewhere in place of what a reader holds. */
  countElsewhere(count: () => number): void {
    this.#elsewhere = count
    this.#leave()
  }

  /** Gives the bytes to keep in place of those that came: small parts of long blocks are copied if they have to wait. */
  received(bytes: Bytes): Bytes {
    const mayWait = this.#waiting() > 0 || this.#stream.readStatus === 'paused' || this.#isReadByLibrary()
    if (!mayWait) return bytes
    const piece = bytes instanceof Uint8Array ? bytes : bytes.subarray()
    return isSmallPart(piece) ? copyOf(piece) : piece
  }

  /** Is told of bytes before their reader has them. False: they are too many, and the stream ends. */
  mayDeliver(bytes: Bytes): boolean {
    if (!this.#isReadByLibrary()) return true
    const { protocol, direction } = this.#stream
    this.#held += chargeOf(bytes)
    if (protocol === '') return true
    this.#messages ??= new MessageWalk(protocol, direction === 'outbound')
    if (this.#messages.isWithin(bytes.subarray())) return true
    // its reader is in the middle of reading
    queueMicrotask(() => this.#stream.abort(new Error('a message over the bound of its protocol')))
    return false
  }

  /** Is told that this end sends. @throws Error when a negotiation takes too many answers, which ends the stream */
  sending(): void {
    if (this.#held > 0) {
      this.#held = 0
      this.count()
    }
    const { protocol, direction } = this.#stream
    if (protocol !== '' || direction !== 'inbound' || this.#waits === undefined) return
    if (++this.#answers <= MAX_NEGOTIATION_ANSWERS) return
    const error = new Error('too long a negotiation')
    this.#stream.abort(error)
    throw error
  }

  /** Is told that a reader has left: what it did not use is on the stream again. */
  readerLeft(): void {
    this.#leave()
  }

  /**
   * Counts what waits; to be called when that has changed.
   *
   * @param unread a piece that came and was not read
   */
  count(unread?: Bytes): void {
    const { status, readBufferLength } = this.#stream
    if (readBufferLength === 0) this.#overhead = 0
    else if (unread !== undefined) this.#overhead += chargeOf(unread) - unread.byteLength
    const isOver = status !== 'open' && status !== 'closing'
    this.#waits?.set(isOver || this.#waiting() === 0 ? 0 : this.#waiting() + this.#overhead)
  }

  #waiting(): number {
    return this.#stream.readBufferLength + this.#held + this.#elsewhere()
  }

  #isReadByLibrary(): boolean {
    const { protocol } = this.#stream
    return !this.#isLeft && (protocol === '' || isReadByLibrary(protocol))
  }

  #leave(): void {
    this.#held = 0
    // a reader of its messages comes after that of the negotiation
    this.#isLeft = this.#stream.protocol !== ''
    this.count()
  }
}
