/** Sends bytes on a stream at once, and tells when there is space again after it was full. */
import type { Stream } from '@libp2p/interface'
import { SEND_LOW_WATER_BYTES } from '../limits.ts'

const NOTHING = new Uint8Array(0)

export class ByteWriter {
  readonly #stream: Stream
  #listener = (): void => {}
  /** True when `send` said false and the listener was not told since. */
  #isAwaited = false
  #isQueued = false

  constructor(stream: Stream) {
    this.#stream = stream
    stream.addEventListener('drain', this.#onSpace)
    stream.addEventListener('idle', this.#onSpace)
  }

  /** Gives false when the sender should stop until `onDrain`. */
  send(bytes: Uint8Array): boolean {
    try {
      if (this.#stream.send(bytes)) return true
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
    this.#isAwaited = false
    this.#stream.removeEventListener('drain', this.#onSpace)
    this.#stream.removeEventListener('idle', this.#onSpace)
  }

  /** Told after libp2p sent what waited: inside its 'idle' event a `send` would be put aside and forgotten. */
  readonly #onSpace = (): void => {
    if (!this.#isAwaited || this.#isQueued) return
    this.#isQueued = true
    queueMicrotask(() => this.#tell())
  }

  #tell(): void {
    this.#isQueued = false
    if (!this.#isAwaited || this.#stream.writeBufferLength > SEND_LOW_WATER_BYTES) return
    // all went into a connection that is full: its own 'drain' follows
    if (this.#stream.writableNeedsDrain && this.#stream.writeBufferLength === 0) return
    this.#isAwaited = false
    this.#listener()
  }
}
