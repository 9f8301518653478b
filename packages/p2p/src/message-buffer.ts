/** Collects bytes as they come and gives them back as messages, each with its length as an unsigned varint ahead. */

/** Lengths up to 2^28 - 1. */
const MAX_PREFIX_BYTES = 4

export class MessageBuffer {
  readonly #maxMessageBytes: number
  #chunks: Uint8Array[] = []
  #byteLength = 0

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes
  }

  get byteLength(): number {
    return this.#byteLength
  }

  /** Keeps the bytes of the next messages. */
  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes)
    this.#byteLength += bytes.byteLength
  }

  /** The next message; undefined while it is not whole. */
  take(): Uint8Array | 'too long' | undefined {
    let length = 0
    for (let at = 0; at < MAX_PREFIX_BYTES; at++) {
      const byte = this.#byteAt(at)
      if (byte === undefined) return undefined
      length += (byte & 0x7f) * 2 ** (7 * at)
      if (length > this.#maxMessageBytes) return 'too long'
      if (byte < 0x80) {
        const end = at + 1 + length
        return this.#byteLength < end ? undefined : this.#cut(end).subarray(at + 1)
      }
    }
    return 'too long'
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
    const whole = join(parts, held)
    if (held > length) this.#chunks.unshift(whole.subarray(length))
    this.#byteLength -= length
    return whole.subarray(0, length)
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
