/** Reads a byte stream by lines and by pieces, and slows the sender down while nobody reads. */
import type { OpenedStream } from '@mesh/services/client'
import { READ_AHEAD_BYTES } from '../limits.ts'

const LF = 10

export class StreamReader {
  readonly #stream: OpenedStream['stream']
  #pieces: Uint8Array[] = []
  #waitingBytes = 0
  #ended: { readonly error: Error | undefined } | undefined
  #wake = () => {}

  /** @param opened a paused stream, and what came of it already */
  constructor({ stream, rest }: OpenedStream) {
    this.#stream = stream
    this.#take(rest)
    const end = (error?: Error) => {
      this.#ended ??= { error }
      this.#wake()
    }
    stream.onBytes((bytes) => this.#take(new Uint8Array(bytes)))
    stream.onRemoteEnd(() => end())
    stream.onEnd(end)
    stream.resume()
  }

  /** Gives the next bytes, as many as came and `maxBytes` at most; undefined at the end. @throws what broke the stream */
  async read(maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    for (;;) {
      const [first] = this.#pieces
      if (first !== undefined) return this.#give(first, maxBytes)
      if (this.#ended?.error !== undefined) throw this.#ended.error
      if (this.#ended !== undefined) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Gives the next line in Latin-1, without its end. @throws Error when it is too long, or the stream ends in it */
  async readLine(maxBytes: number): Promise<string> {
    let line = ''
    for (;;) {
      const bytes = await this.read()
      if (bytes === undefined) throw new Error('the answer ended early')
      const end = bytes.indexOf(LF)
      if (end !== -1) this.#putBack(bytes.subarray(end + 1))
      line += latin1(end === -1 ? bytes : bytes.subarray(0, end))
      if (line.length > maxBytes) throw new Error('a line of the answer is too long')
      if (end !== -1) return line.endsWith('\r') ? line.slice(0, -1) : line
    }
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#pieces.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= READ_AHEAD_BYTES) this.#stream.pause()
    this.#wake()
  }

  #give(first: Uint8Array, maxBytes: number): Uint8Array {
    const given = first.subarray(0, maxBytes)
    if (given.length === first.length) this.#pieces.shift()
    else this.#pieces[0] = first.subarray(given.length)
    this.#waitingBytes -= given.length
    if (this.#waitingBytes < READ_AHEAD_BYTES && this.#ended === undefined) this.#stream.resume()
    return given
  }

  #putBack(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#pieces.unshift(bytes)
    this.#waitingBytes += bytes.length
  }
}

/** `TextDecoder` reads Latin-1 as Windows-1252, which has other signs. */
function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
