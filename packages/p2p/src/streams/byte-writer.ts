/** Sends bytes on a stream at once, and tells when there is space again after it was full. */
import type { Stream } from '@libp2p/interface'
import { MUCH_UNSENT_BYTES, SEND_LOW_WATER_BYTES } from '../limits.ts'
import { type Unsent, UnsentPart } from '../unsent.ts'

const NOTHING = new Uint8Array(0)

export class ByteWriter {
  readonly #stream: Stream
  readonly #unsent: UnsentPart
  #listener = (): void => {}
  /** True when `send` said false and the listener was not told since. */
  #isAwaited = false
  #isQueued = false
  #isStopped = false

  constructor(stream: Stream, unsent: Unsent) {
    this.#stream = stream
    this.#unsent = new UnsentPart(unsent)
    stream.addEventListener('drain', this.#onSpace)
    stream.addEventListener('idle', this.#onSpace)
  }

  /** Gives false when the sender should stop until `onDrain`. */
  send(bytes: Uint8Array): boolean {
    try {
      const mayFollow = this.#stream.send(bytes)
      this.#count()
      if (mayFollow) return true
    } catch {
      // refused or cut after it was opened: 'close' tells, or told, why
    }
    this.#isAwaited = true
    return false
  }

  onDrain(listener: () => void): void {
    this.#listener = listener
  }

  /** Sends the protocol's name where nothing else would carry it: who only listens sends nothing (`lazy-negotiation.ts`). */
  nudge(): void {
    const stream = this.#stream
    if (stream.direction === 'outbound' && stream.writeStatus === 'writable') stream.send(NOTHING)
  }

  stop(): void {
    this.#isStopped = true
    this.#isAwaited = false
    this.#count()
    this.#stream.removeEventListener('drain', this.#onSpace)
    this.#stream.removeEventListener('idle', this.#onSpace)
  }

  #count(): void {
    this.#unsent.set(this.#isStopped ? 0 : this.#stream.writeBufferLength)
  }

  /** Told after libp2p sent what waited: inside its 'idle' event a `send` would be put aside and forgotten. */
  readonly #onSpace = (): void => {
    if (this.#unsent.bytes > 0) this.#count()
    if (!this.#isAwaited || this.#isQueued) return
    this.#isQueued = true
    queueMicrotask(() => this.#tell())
  }

  #tell(): void {
    this.#isQueued = false
    if (this.#isStopped) return
    this.#count()
    if (!this.#isAwaited || this.#unsent.bytes > this.#lowWater()) return
    // all went into a connection that is full: its own 'drain' follows
    if (this.#stream.writableNeedsDrain && this.#stream.writeBufferLength === 0) return
    this.#isAwaited = false
    this.#listener()
  }

  /** Where much waits on all streams, each brings more only when what it brought has gone out. */
  #lowWater(): number {
    return this.#unsent.others > MUCH_UNSENT_BYTES ? 0 : SEND_LOW_WATER_BYTES
  }
}
