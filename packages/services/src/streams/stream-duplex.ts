/** A stream as Node's HTTP takes it: what it does not read slows the other side down, and the other way round. */
import { Duplex } from 'node:stream'
import type { LoopBudget } from '@mesh/core/limits'
import { HTTP_PIECE_BYTES, REQUEST_PIECE_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import type { Traffic } from './splice.ts'

const HEAD_END = '\r\n\r\n'

/** A stream to a member, or a socket in that form. */
type Underlying = Omit<ByteStream, 'peer' | 'direct' | 'transport'>

interface StreamDuplexInit {
  /** Bytes that came from the stream before. */
  readonly head?: Uint8Array
  readonly traffic?: Traffic
  /** Bounds the time of the parser. 64 KiB may hold a body in eleven thousand chunks, and Node makes an object of each. */
  readonly budget: Pick<LoopBudget, 'isTimeLeft' | 'later'>
  /** True: the stream brings requests. A piece ends with the head of one, so that its handler can hold the stream there. */
  readonly bringsRequests?: boolean
  /** False, as by default: when the remote has ended, so does this side. */
  readonly allowHalfOpen?: boolean
}

export class StreamDuplex extends Duplex {
  readonly #stream: Underlying
  readonly #traffic: Traffic | undefined
  readonly #budget: StreamDuplexInit['budget']
  readonly #bringsRequests: boolean
  /** Bytes that came and are not handed on: it is held, its reader has enough, or they wait for a later turn. */
  #kept: Uint8Array[] = []
  #hasEnded = false
  #isHandingOn = false
  /** True while what is kept waits for a later turn. */
  #isWaiting = false
  #onDrain: (() => void) | undefined
  #isHeld = false

  /** @param stream with `halfClose` */
  constructor(stream: Underlying, init: StreamDuplexInit) {
    const { head, traffic, budget, allowHalfOpen = false, bringsRequests = false } = init
    // a buffer would hand on heads while the stream is held
    super({ allowHalfOpen, readableHighWaterMark: bringsRequests ? 1 : HTTP_PIECE_BYTES })
    this.#stream = stream
    this.#traffic = traffic
    this.#budget = budget
    this.#bringsRequests = bringsRequests
    stream.onDrain(() => {
      const written = this.#onDrain
      this.#onDrain = undefined
      written?.()
    })
    stream.onRemoteEnd(() => {
      this.#hasEnded = true
      this.#handOn()
    })
    stream.onEnd((error) => {
      if (error !== undefined) this.destroy(error)
    })
    const take = (bytes: Uint8Array) => {
      if (this.#traffic !== undefined) this.#traffic.bytesIn += bytes.byteLength
      this.#kept.push(bytes)
      this.#handOn()
    }
    if (head !== undefined && head.byteLength > 0) take(head)
    stream.onBytes(take)
  }

  /** How many bytes came and were not handed on. */
  get keptBytes(): number {
    return this.#kept.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Takes what came and was not handed on. */
  takeKept(): Uint8Array {
    return Buffer.concat(this.#kept.splice(0))
  }

  /** While it is held the stream brings nothing, whoever asks for more; a parser asks on while its reader does not read. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld) this.#stream.pause()
    else this._read()
  }

  override _read(): void {
    if (this.#isHeld || this.#isHandingOn) return
    this.#handOn()
    if (this.#kept.length === 0 && !this.#isHeld) this.#stream.resume()
  }

  /** Hands on what has come, piece by piece, until it is held, the reader has enough, or this turn has no time left. */
  #handOn(): void {
    if (this.#isHandingOn || this.#isWaiting) return
    this.#isHandingOn = true
    let isWanted = true
    while (isWanted && !this.#isHeld && !this.destroyed) {
      const [first] = this.#kept
      if (first === undefined) break
      if (!this.#budget.isTimeLeft('members')) {
        this.#goOnLater()
        break
      }
      const length = this.#pieceLength(first)
      if (length === first.byteLength) this.#kept.shift()
      else this.#kept[0] = first.subarray(length)
      isWanted = this.push(first.subarray(0, length))
    }
    this.#isHandingOn = false
    if (this.#kept.length > 0 || !isWanted) this.#stream.pause()
    else if (this.#hasEnded && !this.destroyed) this.push(null)
  }

  #pieceLength(bytes: Uint8Array): number {
    if (!this.#bringsRequests) return Math.min(bytes.byteLength, HTTP_PIECE_BYTES)
    const longest = Math.min(bytes.byteLength, REQUEST_PIECE_BYTES)
    const end = Buffer.from(bytes.buffer, bytes.byteOffset, longest).indexOf(HEAD_END)
    return end === -1 ? longest : end + HEAD_END.length
  }

  #goOnLater(): void {
    this.#isWaiting = true
    this.#budget.later('members', () => {
      this.#isWaiting = false
      this._read()
    })
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    if (this.#traffic !== undefined) this.#traffic.bytesOut += chunk.byteLength
    if (this.#stream.send(chunk)) written()
    else this.#onDrain = written
  }

  override _final(done: () => void): void {
    this.#stream.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (error !== null) this.#stream.abort(error)
    else if (!(this.readableEnded && this.writableFinished)) this.#stream.close()
    done(error)
  }

  // what Node's HTTP asks of a socket

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
