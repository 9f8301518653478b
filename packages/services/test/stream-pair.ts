/** Two joined ends of a stream in memory, as p2p's with `halfClose`: in order, with backpressure, ends and resets. */
import type { PeerId } from '@mesh/core'
import type { ByteStream } from '../src/ports.ts'

/** What one end takes before `send` says no. */
const WINDOW_BYTES = 64 * 1024

class End implements ByteStream {
  readonly peer: PeerId
  readonly direct = true
  other: End | undefined
  /** Bytes that came and were not handed on. */
  held = 0
  readonly #inbox: Uint8Array[] = []
  #onBytes: ((bytes: Uint8Array) => void) | undefined
  #onDrain = () => {}
  #onEnd = (_error: Error | undefined) => {}
  #onRemoteEnd = () => {}
  #paused = false
  #ended = false
  #remoteEnded = false
  #remoteDone = false
  #over: { readonly error: Error | undefined } | undefined
  #awaited = false

  constructor(peer: PeerId) {
    this.peer = peer
  }

  send(bytes: Uint8Array): boolean {
    const to = this.other
    if (this.#over !== undefined || this.#ended || to === undefined) return false
    to.held += bytes.byteLength
    to.#inbox.push(bytes)
    queueMicrotask(() => to.#deliver())
    this.#awaited = to.held >= WINDOW_BYTES
    return !this.#awaited
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#onBytes = listener
    queueMicrotask(() => this.#deliver())
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#onEnd = listener
    if (this.#over !== undefined) queueMicrotask(() => listener(this.#over?.error))
  }

  onRemoteEnd(listener: () => void): void {
    this.#onRemoteEnd = listener
    if (this.#remoteDone) queueMicrotask(listener)
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    const to = this.other
    queueMicrotask(() => {
      if (to !== undefined) {
        to.#remoteEnded = true
        to.#deliver()
      }
      this.#deliver()
    })
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    queueMicrotask(() => this.#deliver())
  }

  close(): void {
    this.end()
    this.#finish(undefined)
  }

  abort(reason: Error): void {
    if (this.#over !== undefined) return
    this.#finish(reason)
    if (this.other !== undefined) this.other.#finish(new Error('The stream has been reset'))
  }

  #deliver(): void {
    while (
      this.#inbox.length > 0 &&
      !this.#paused &&
      this.#onBytes !== undefined &&
      this.#over === undefined
    ) {
      const bytes = this.#inbox.shift() as Uint8Array
      this.held -= bytes.byteLength
      this.#onBytes(bytes)
    }
    const from = this.other
    if (from !== undefined && from.#awaited && this.held < WINDOW_BYTES / 2) {
      from.#awaited = false
      queueMicrotask(() => from.#onDrain())
    }
    if (this.#inbox.length > 0 || !this.#remoteEnded || this.#over !== undefined) return
    if (!this.#remoteDone) {
      this.#remoteDone = true
      this.#onRemoteEnd()
    }
    if (this.#ended) this.#finish(undefined)
  }

  #finish(error: Error | undefined): void {
    if (this.#over !== undefined) return
    this.#over = { error }
    this.#onEnd(error)
  }
}

/** @param near who `far` sees @param far who `near` sees */
export function createStreamPair(
  near: PeerId,
  far: PeerId,
): { readonly near: ByteStream; readonly far: ByteStream } {
  const [one, other] = [new End(far), new End(near)]
  one.other = other
  other.other = one
  return { near: one, far: other }
}
