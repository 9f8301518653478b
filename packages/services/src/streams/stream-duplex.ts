/** A stream as Node's HTTP takes it: what it does not read slows the other side down, and the other way round. */
import { Duplex } from 'node:stream'
import type { LoopTurns } from '@mesh/core'
import { HTTP_PIECE_BYTES } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import type { Traffic } from './splice.ts'

/** A stream to a member, or a socket in that form. */
type Underlying = Omit<ByteStream, 'peer' | 'direct' | 'transport'>

interface StreamDuplexInit {
  /** Bytes that came from the stream before. */
  readonly head?: Uint8Array
  readonly traffic?: Traffic
  /**
   * The loop budget for the parsers of all such streams. 64 KiB may hold a body in eleven thousand chunks, and Node makes an object
   * of each.
   */
  readonly turns: Pick<LoopTurns, 'isTimeLeft' | 'later'>
  /** How long the pieces are that a parser gets at most, in bytes; `HTTP_PIECE_BYTES` unless given. */
  readonly pieceBytes?: number
  /** False, as by default: when the remote has ended, so does this side. */
  readonly allowHalfOpen?: boolean
}

export class StreamDuplex extends Duplex {
  readonly #stream: Underlying
  readonly #traffic: Traffic | undefined
  readonly #turns: StreamDuplexInit['turns']
  readonly #pieceBytes: number
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
    const { head, traffic, turns, allowHalfOpen = false, pieceBytes = HTTP_PIECE_BYTES } = init
    super({ allowHalfOpen, readableHighWaterMark: pieceBytes })
    this.#stream = stream
    this.#traffic = traffic
    this.#turns = turns
    this.#pieceBytes = pieceBytes
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
      if (!this.#turns.isTimeLeft()) {
        this.#goOnLater()
        break
      }
      if (first.byteLength <= this.#pieceBytes) this.#kept.shift()
      else this.#kept[0] = first.subarray(this.#pieceBytes)
      isWanted = this.push(first.byteLength <= this.#pieceBytes ? first : first.subarray(0, this.#pieceBytes))
    }
    this.#isHandingOn = false
    if (this.#kept.length > 0 || !isWanted) this.#stream.pause()
    else if (this.#hasEnded && !this.destroyed) this.push(null)
  }

  #goOnLater(): void {
    this.#isWaiting = true
    this.#turns.later(() => {
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
