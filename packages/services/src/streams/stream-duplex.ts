/** A stream as Node's libraries take it: what they do not read slows the other side down, and the other way round. */
import { Duplex } from 'node:stream'
import type { ByteStream } from '../ports.ts'
import type { Traffic } from './splice.ts'

interface StreamDuplexInit {
  /** Bytes that came from the stream before. */
  readonly head?: Uint8Array
  readonly traffic?: Traffic
  /** False, as by default: when the remote has ended, so does this side. */
  readonly allowHalfOpen?: boolean
}

export class StreamDuplex extends Duplex {
  readonly #stream: ByteStream
  readonly #traffic: Traffic | undefined
  #onDrain: (() => void) | undefined
  #isHeld = false

  /** @param stream with `halfClose` */
  constructor(stream: ByteStream, { head, traffic, allowHalfOpen = false }: StreamDuplexInit = {}) {
    super({ allowHalfOpen })
    this.#stream = stream
    this.#traffic = traffic
    stream.onDrain(() => {
      const written = this.#onDrain
      this.#onDrain = undefined
      written?.()
    })
    stream.onRemoteEnd(() => this.push(null))
    stream.onEnd((error) => {
      if (error !== undefined) this.destroy(error)
    })
    const take = (bytes: Uint8Array) => {
      if (this.#traffic !== undefined) this.#traffic.bytesIn += bytes.byteLength
      if (!this.push(bytes)) stream.pause()
    }
    if (head !== undefined && head.byteLength > 0) take(head)
    stream.onBytes(take)
  }

  /** While it is held the stream brings nothing, whoever asks for more; a parser asks on while its reader does not read. */
  setHeld(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld) this.#stream.pause()
    else this.#stream.resume()
  }

  override _read(): void {
    if (!this.#isHeld) this.#stream.resume()
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
