/** Collects bytes as they come and gives them back as messages, each with its length as an unsigned varint ahead. */
import { copyOf, isSmallPart } from '@mesh/core'
import { MAX_PREFIX_BYTES, PREFIX_CONTINUES } from './length-prefix.ts'

/** How long the blocks are into which short pieces are copied, one behind the other, in bytes. */
const BLOCK_BYTES = 4_096

const NOTHING = new Uint8Array(0)

export class MessageBuffer {
  readonly #maxMessageBytes: number
  #chunks: Uint8Array[] = []
  #byteLength = 0
  /** The last block with short pieces, and the chunk that they make, to which more may be added. */
  #short = { block: NOTHING, chunk: NOTHING }

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes
  }

  get byteLength(): number {
    return this.#byteLength
  }

  /** Keeps the bytes of the next messages; what is a small part of its block of memory is copied, to keep nothing else. */
  add(bytes: Uint8Array): void {
    const { byteLength } = bytes
    this.#byteLength += byteLength
    if (!isSmallPart(bytes)) this.#chunks.push(bytes)
    else if (byteLength > BLOCK_BYTES / 2) this.#chunks.push(copyOf(bytes))
    else this.#addShort(bytes)
  }

  /** The next message, which is the caller's to keep; undefined while it is not whole. */
  take(): Uint8Array | 'too long' | undefined {
    let length = 0
    for (let at = 0; at < MAX_PREFIX_BYTES; at++) {
      const byte = this.#byteAt(at)
      if (byte === undefined) return undefined
      length += (byte & 0x7f) * 2 ** (7 * at)
      if (length > this.#maxMessageBytes) return 'too long'
      if (byte >= PREFIX_CONTINUES) continue
      const end = at + 1 + length
      if (this.#byteLength < end) return undefined
      const message = this.#cut(end).subarray(at + 1)
      if (isSmallPart(message)) return copyOf(message)
      // what came as a `Buffer` would give views by `slice`
      return new Uint8Array(message.buffer, message.byteOffset, message.byteLength)
    }
    return 'too long'
  }

  /** A piece of one byte takes a hundred more where it stands alone. */
  #addShort(bytes: Uint8Array): void {
    const last = this.#chunks.at(-1)
    const { chunk, block } = this.#short
    const used = chunk.byteOffset + chunk.byteLength
    if (last === chunk && used + bytes.byteLength <= block.byteLength) {
      block.set(bytes, used)
      this.#short = { block, chunk: block.subarray(chunk.byteOffset, used + bytes.byteLength) }
      this.#chunks[this.#chunks.length - 1] = this.#short.chunk
      return
    }
    const fresh = new Uint8Array(BLOCK_BYTES)
    fresh.set(bytes)
    this.#short = { block: fresh, chunk: fresh.subarray(0, bytes.byteLength) }
    this.#chunks.push(this.#short.chunk)
  }

  #byteAt(index: number): number | undefined {
    let before = 0
    for (const chunk of this.#chunks) {
      if (index < before + chunk.byteLength) return chunk[index - before]
      before += chunk.byteLength
    }
    return undefined
  }

  /** Takes the first bytes; they are copied where they lie in several chunks. */
  #cut(length: number): Uint8Array {
    let count = 0
    let held = 0
    while (held < length) held += this.#chunks[count++]?.byteLength ?? 0
    const parts = this.#chunks.splice(0, count)
    const last = parts.at(-1)
    if (last !== undefined && held > length) {
      const used = last.byteLength - (held - length)
      parts[count - 1] = last.subarray(0, used)
      this.#chunks.unshift(last.subarray(used))
    }
    this.#byteLength -= length
    return join(parts, length)
  }
}

function join(parts: readonly Uint8Array[], byteLength: number): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array
  const whole = new Uint8Array(byteLength)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}
