/** Hands on what comes on a stream, chunk by chunk, while it may; else the stream is paused. */
import type { Stream, StreamMessageEvent } from '@libp2p/interface'
import type { Scope } from '@mesh/core/limits'
import { WaitingBytes } from '../waiting-bytes.ts'
import { isLive } from './member-streams.ts'

interface ByteReaderInit {
  readonly peer: string
  /** The group of addresses that the peer comes from. */
  readonly address: string
  readonly unread: Scope
}

export class ByteReader {
  readonly #stream: Stream
  #listener: ((bytes: Uint8Array) => void) | undefined
  #isPaused = false
  #isStopped = false
  #isDelivering = false
  #isResuming = false
  /** The bytes that came and were not handed on: a listener paused in the middle. */
  readonly #held: Uint8Array[] = []
  /** The part that is unread beside what the open stream itself keeps. */
  readonly #waiting: WaitingBytes
  /** True once something came: the other side is done with negotiating the protocol. */
  heard = false
  /** Called when everything that came was handed on. */
  onEmpty = (): void => {}
  /** Called when what waits holds too much, and has to go. */
  onSurplus = (_reason: Error): void => {}

  constructor(stream: Stream, { peer, address, unread }: ByteReaderInit) {
    this.#stream = stream
    this.#waiting = new WaitingBytes({
      peer,
      address,
      scope: unread,
      end: (reason) => this.onSurplus(reason),
    })
    if (stream.readStatus === 'readable') stream.pause()
    stream.addEventListener('message', this.#onMessage)
    stream.addEventListener('close', this.#onClose, { once: true })
  }

  isEmpty(): boolean {
    return this.#held.length === 0 && this.#stream.readBufferLength === 0
  }

  onBytes(listener: (bytes: Uint8Array) => void): void {
    this.#listener = listener
    queueMicrotask(() => this.#deliver())
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#deliver()
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#held.length = 0
    this.#waiting.set(0)
    this.#stream.removeEventListener('message', this.#onMessage)
    this.#stream.removeEventListener('close', this.#onClose)
    // the other side's window must not stay shut
    if (this.#stream.readStatus === 'paused') this.#stream.resume()
  }

  readonly #onMessage = ({ data }: StreamMessageEvent): void => {
    this.heard = true
    if (data instanceof Uint8Array) this.#held.push(data)
    else for (const chunk of data) this.#held.push(chunk)
    this.#deliver()
  }

  /** Counts what came before the end and may still be read: nothing else does any more. */
  readonly #onClose = (): void => this.#count()

  #count(): void {
    if (this.#isStopped) return
    const held = this.#held.reduce((bytes, chunk) => bytes + chunk.byteLength, 0)
    this.#waiting.set(held + (isLive(this.#stream) ? 0 : this.#stream.readBufferLength))
  }

  #mayDeliver(): boolean {
    return this.#listener !== undefined && !this.#isPaused && !this.#isStopped
  }

  #deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    const held = this.#held
    let next = 0
    try {
      for (; next < held.length && this.#mayDeliver(); next++) this.#listener?.(held[next] as Uint8Array)
    } finally {
      held.splice(0, next)
      this.#isDelivering = false
    }
    this.#count()
    this.#regulate()
    if (this.isEmpty()) this.onEmpty()
  }

  /** Pausing inside a 'message' that `stream.resume()` fired would be undone, so it waits until that returned. */
  #regulate(): void {
    if (this.#isResuming || this.#isStopped) return
    const stream = this.#stream
    if (this.#mayDeliver() && this.#held.length === 0 && stream.readStatus === 'paused') {
      this.#isResuming = true
      stream.resume()
      this.#isResuming = false
    }
    if (!(this.#mayDeliver() && this.#held.length === 0) && stream.readStatus === 'readable') stream.pause()
  }
}
