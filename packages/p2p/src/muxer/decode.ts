/**
 * Cuts what comes into frames, and hands on the data of a frame as it comes: a frame may be 4 GiB long.
 * After @libp2p/yamux 8.0.3, Apache-2.0 OR MIT; see NOTICE.
 */
import { decodeHeader, FLAG, FRAME_TYPE, type FrameHeader, HEADER_BYTES } from './frame.ts'

/** A frame, or a part of the data of one. */
export interface FramePart {
  /** Its length is that of the part. Flags that end a stream come with the last part, the others with the first. */
  readonly header: FrameHeader
  readonly data: Uint8Array
}

const NOTHING = new Uint8Array(0)
const ENDS = FLAG.fin | FLAG.rst

export class Decoder {
  readonly #chunks: Uint8Array[] = []
  /** The next byte of the first chunk. */
  #at = 0
  readonly #head = new Uint8Array(HEADER_BYTES)
  #headBytes = 0
  /** The rest of a frame of which only a part has come. */
  #open: FrameHeader | undefined

  /** Takes bytes over. The parts that `next` gives lie in them. */
  add(bytes: Iterable<Uint8Array>): void {
    for (const chunk of bytes) if (chunk.byteLength > 0) this.#chunks.push(chunk)
  }

  /** Forgets what waits, and gives the number of its bytes. */
  drop(): number {
    const bytes = this.#chunks.reduce((sum, { byteLength }) => sum + byteLength, -this.#at)
    this.#chunks.length = 0
    this.#at = 0
    return bytes
  }

  /** Gives the next part; undefined when more must come first. @throws FrameError */
  next(): FramePart | undefined {
    const header = this.#open ?? this.#nextHeader()
    if (header === undefined || header.type !== FRAME_TYPE.data || header.length === 0)
      return header && { header, data: NOTHING }
    const data = this.#take(header.length)
    const left = header.length - data.byteLength
    this.#open = left > 0 ? { ...header, length: left, flags: header.flags & ENDS } : undefined
    if (data.byteLength === 0) {
      this.#open = header
      return undefined
    }
    const flags = left > 0 ? header.flags & ~ENDS : header.flags
    return { header: { ...header, flags, length: data.byteLength }, data }
  }

  #nextHeader(): FrameHeader | undefined {
    const [first] = this.#chunks
    if (first === undefined) return undefined
    const at = this.#at
    if (this.#headBytes === 0 && first.byteLength - at >= HEADER_BYTES) {
      this.#take(HEADER_BYTES)
      return decodeHeader(first, at)
    }
    while (this.#headBytes < HEADER_BYTES && this.#chunks.length > 0) {
      const part = this.#take(HEADER_BYTES - this.#headBytes)
      this.#head.set(part, this.#headBytes)
      this.#headBytes += part.byteLength
    }
    if (this.#headBytes < HEADER_BYTES) return undefined
    this.#headBytes = 0
    return decodeHeader(this.#head, 0)
  }

  /** Takes so many bytes of the first chunk, or as many as it has. */
  #take(bytes: number): Uint8Array {
    const [first] = this.#chunks
    if (first === undefined) return NOTHING
    const taken = first.subarray(this.#at, this.#at + bytes)
    this.#at += taken.byteLength
    if (this.#at === first.byteLength) {
      this.#chunks.shift()
      this.#at = 0
    }
    return taken
  }
}
