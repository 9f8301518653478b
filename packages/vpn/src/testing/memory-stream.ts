/** Two joined ends of a stream, in memory: in order, with backpressure, an end, and breaking. */
import type { PeerId } from '@mesh/core'
import type { ByteStream, VpnChannel } from '../ports.ts'

/** The number of bytes that a stream takes before `send` says no. */
const WINDOW_BYTES = 256 * 1024
/** The number of bytes that a full stream may hold at most before it takes more. */
const DRAINED_BYTES = 32 * 1024

export interface StreamPair {
  readonly near: ByteStream
  readonly far: ByteStream
  /** Ends both as if the connection was lost. */
  break(): void
  /** The most bytes that there ever were on their way to one of the two. */
  readonly mostBytes: number
  /** True when both ends have ended. */
  readonly ended: boolean
}

/** @param peers who sees `near`'s other end as whom, and the other way round */
export function createStreamPair(
  peers: { readonly near: PeerId; readonly far: PeerId },
  direct: boolean,
): StreamPair {
  const near = new StreamEnd()
  const far = new StreamEnd()
  near.join(far)
  far.join(near)
  return {
    near: streamOf(near, { peer: peers.far, direct }),
    far: streamOf(far, { peer: peers.near, direct }),
    break() {
      for (const end of [near, far]) end.finish(new Error('the connection was lost'))
    },
    get mostBytes() {
      return Math.max(near.mostBytes, far.mostBytes)
    },
    get ended() {
      return near.isOver && far.isOver
    },
  }
}

/** An object of its own, so that a test may replace parts of it. */
function streamOf(end: StreamEnd, { peer, direct }: Pick<ByteStream, 'peer' | 'direct'>): ByteStream {
  return {
    peer,
    direct,
    send: (bytes) => end.send(bytes),
    onDrain: (listener) => end.onDrain(listener),
    onBytes: (listener) => end.onBytes(listener),
    onEnd: (listener) => end.onEnd(listener),
    pause: () => end.pause(),
    resume: () => end.resume(),
    close: () => end.close(),
    abort: (reason) => end.abort(reason),
  }
}

class StreamEnd {
  /** The most bytes that there ever were on their way to this end. */
  mostBytes = 0
  #other: StreamEnd = this
  readonly #inbox: Uint8Array[] = []
  #heldBytes = 0
  /** Nothing more comes, as the other end closed. */
  #isClosed = false
  #over: { readonly error: Error | undefined } | undefined
  #onBytes: ((bytes: Uint8Array) => void) | undefined
  #onDrain = () => {}
  #onEnd: ((error: Error | undefined) => void) | undefined
  #isPaused = false
  /** `send` said no, and `onDrain` is awaited. */
  #awaitsDrain = false
  #isScheduled = false

  get isOver(): boolean {
    return this.#over !== undefined
  }

  join(other: StreamEnd): void {
    this.#other = other
  }

  send(bytes: Uint8Array): boolean {
    const to = this.#other
    if (this.isOver || this.#isClosed || to.isOver || to.#isClosed) return false
    to.#inbox.push(bytes)
    to.#heldBytes += bytes.length
    to.mostBytes = Math.max(to.mostBytes, to.#heldBytes)
    to.#schedule()
    this.#awaitsDrain ||= to.#heldBytes >= WINDOW_BYTES
    return to.#heldBytes < WINDOW_BYTES
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#onBytes = listener
    this.#schedule()
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#onEnd = listener
    if (this.isOver) queueMicrotask(() => listener(this.#over?.error))
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#schedule()
  }

  close(): void {
    this.#other.#isClosed = true
    this.#other.#schedule()
  }

  abort(reason: Error): void {
    this.finish(reason)
    this.#other.finish(new Error('the other side reset the stream'))
  }

  finish(error: Error | undefined): void {
    if (this.isOver) return
    this.#over = { error }
    this.#inbox.length = 0
    this.#heldBytes = 0
    setImmediate(() => this.#onEnd?.(error))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#deliver()
    })
  }

  #deliver(): void {
    const from = this.#other
    while (!this.isOver && this.#onBytes !== undefined && !this.#isPaused) {
      const bytes = this.#inbox.shift()
      if (bytes === undefined) break
      this.#heldBytes -= bytes.length
      this.#onBytes(bytes)
    }
    if (this.#isClosed && this.#inbox.length === 0) {
      this.finish(undefined)
      from.finish(undefined)
    }
    if (from.#awaitsDrain && this.#heldBytes <= DRAINED_BYTES && !from.isOver) {
      from.#awaitsDrain = false
      from.#onDrain()
    }
  }
}

/** A channel over a memory stream: each chunk is a message. @param address what it counts under */
export function createMemoryChannel(stream: ByteStream, address: string): VpnChannel {
  const queue: Uint8Array[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake = () => {}
  stream.onBytes((bytes) => {
    queue.push(bytes)
    wake()
  })
  stream.onEnd((error) => {
    end = { error }
    wake()
  })
  return {
    peer: stream.peer,
    address,
    direct: stream.direct,
    async send(message) {
      stream.send(Uint8Array.from(message))
    },
    async *messages() {
      for (;;) {
        const message = queue.shift()
        if (message !== undefined) yield message
        else if (end?.error !== undefined) throw end.error
        else if (end !== undefined) return
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
    async close() {
      stream.close()
    },
    abort: (reason) => stream.abort(reason),
  }
}

/** All messages until the channel closes. Rejects with what broke the channel. */
export async function readAll(channel: VpnChannel): Promise<readonly Uint8Array[]> {
  const messages: Uint8Array[] = []
  for await (const message of channel.messages()) messages.push(message)
  return messages
}
