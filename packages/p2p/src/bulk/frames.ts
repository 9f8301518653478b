/**
 * The frames of a bulk connection: one byte of type, three of length (big-endian), then the payload. A reader hands on
 * the payload of data frames as it comes, without waiting for the whole frame and without a copy.
 */
import { FRAME_HEADER_BYTES, MAX_PROTOCOL_ID_BYTES } from './limits.ts'

export const FRAME = {
  data: 0,
  /** Begins a stream; the payload is the protocol's id. */
  open: 1,
  /** This direction of the stream ends. */
  end: 2,
  /** Asks for a `pong`; only while no stream is open. */
  ping: 3,
  pong: 4,
} as const
export type FrameType = (typeof FRAME)[keyof typeof FRAME]

export function encodeHeader(type: FrameType, length: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  header.writeUInt32BE(type * 2 ** 24 + length)
  return header
}

/** A header and a short payload in one piece. */
export function encodeShortFrame(type: FrameType, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.byteLength)
  frame.writeUInt32BE(type * 2 ** 24 + payload.byteLength)
  frame.set(payload, FRAME_HEADER_BYTES)
  return frame
}

export interface FrameListener {
  /** False: the reader stops here and goes on with `read` of what it returned. */
  mayRead(): boolean
  onData(bytes: Uint8Array): void
  /** Every frame but data; `payload` is empty for all but `open`. */
  onControl(type: FrameType, payload: Uint8Array): void
}

/** Cuts what comes into frames. */
export class FrameReader {
  readonly #listener: FrameListener
  /** Header bytes, and the payload of control frames behind them. */
  readonly #head = Buffer.alloc(FRAME_HEADER_BYTES + MAX_PROTOCOL_ID_BYTES)
  #headLength = 0
  /** The bytes left of the data frame that is being read. */
  #dataLeft = 0

  constructor(listener: FrameListener) {
    this.#listener = listener
  }

  /**
   * Reads the bytes until all are read or the listener may not read on; what it hands on is the listener's to keep.
   * @returns what was not read; empty when all was; undefined: what came is no frame
   */
  read(bytes: Uint8Array): Uint8Array | undefined {
    let at = 0
    while (at < bytes.byteLength) {
      if (this.#dataLeft > 0) {
        if (!this.#listener.mayRead()) return bytes.subarray(at)
        const end = Math.min(bytes.byteLength, at + this.#dataLeft)
        this.#dataLeft -= end - at
        this.#listener.onData(at === 0 && end === bytes.byteLength ? bytes : bytes.subarray(at, end))
        at = end
        continue
      }
      const read = this.#readHead(bytes, at)
      if (read === undefined) return undefined
      at = read
    }
    return NOTHING
  }

  /** Returns where to go on. */
  #readHead(bytes: Uint8Array, from: number): number | undefined {
    const head = this.#head
    let at = this.#fill(bytes, from, FRAME_HEADER_BYTES)
    if (this.#headLength < FRAME_HEADER_BYTES) return at
    const type = head.readUInt8(0)
    const length = head.readUIntBE(1, 3)
    if (type === FRAME.data) {
      this.#dataLeft = length
      this.#headLength = 0
      return at
    }
    if (!isControl(type) || length > (type === FRAME.open ? MAX_PROTOCOL_ID_BYTES : 0)) return undefined
    at = this.#fill(bytes, at, FRAME_HEADER_BYTES + length)
    if (this.#headLength < FRAME_HEADER_BYTES + length) return at
    this.#headLength = 0
    this.#listener.onControl(type, head.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + length))
    return at
  }

  #fill(bytes: Uint8Array, from: number, until: number): number {
    const end = Math.min(bytes.byteLength, from + Math.max(0, until - this.#headLength))
    this.#head.set(bytes.subarray(from, end), this.#headLength)
    this.#headLength += end - from
    return end
  }
}

const NOTHING = new Uint8Array(0)

function isControl(type: number): type is Exclude<FrameType, 0> {
  return type >= FRAME.open && type <= FRAME.pong
}
