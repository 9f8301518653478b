/**
 * Keeps what a local client sends before its service has answered. The bytes go along with the request, which saves a round
 * trip. They are kept until the answer, so that a refused request can be repeated elsewhere.
 */
import type { Socket } from 'node:net'
import { MAX_EARLY_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'

export class EarlyBytes {
  readonly #socket: Socket
  readonly #held: Uint8Array[] = []
  #byteLength = 0
  #stream: ByteStream | undefined
  #isSent = false

  /** Reads from now on, up to a bound. @param socket paused */
  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', this.#take)
    socket.resume()
  }

  /** True once some of it has gone to a provider, which may have acted on it. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Sends all that came, and what comes; to one stream at a time. */
  sendTo(stream: ByteStream): void {
    this.#stream = stream
    for (const bytes of this.#held) stream.send(bytes)
    this.#isSent ||= this.#held.length > 0
  }

  /** The stream was refused: what comes is kept for the next one. */
  takeBack(): void {
    this.#stream = undefined
    this.#isSent = false
  }

  /**
   * Ends it; the number of bytes that were sent. Nothing is kept any more. The socket may flow: who listens next does
   * so before anything else happens.
   */
  finish(): number {
    this.#socket.off('data', this.#take)
    this.#held.length = 0
    return this.#byteLength
  }

  readonly #take = (bytes: Buffer) => {
    this.#held.push(bytes)
    this.#byteLength += bytes.byteLength
    if (this.#byteLength >= MAX_EARLY_BYTES) this.#socket.pause()
    if (this.#stream === undefined) return
    this.#isSent = true
    this.#stream.send(bytes)
  }
}
