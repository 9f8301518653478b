/** Reads a descriptor to its end, and no further than a bound: a device, a pipe and a file that grows may have no end. */
import { readSync } from 'node:fs'

const CHUNK_BYTES = 64 * 1024

export interface BoundedRead {
  /** The most bytes that are read. */
  readonly maxBytes: number
  /** True: from the first byte, whatever was read of the descriptor before, as only a regular file can be. */
  readonly fromStart: boolean
}

/** It gives all bytes up to the end. @throws Error of the file system, and when there are more than the bound */
export function readBounded(descriptor: number, { maxBytes, fromStart }: BoundedRead): Buffer {
  const bytes = readPart(descriptor, { maxBytes: maxBytes + 1, fromStart })
  if (bytes.length > maxBytes) throw new Error(`it has more than the ${maxBytes} bytes that are read`)
  return bytes
}

/** It gives as many bytes as there are, and no more than the bound. @throws Error of the file system */
export function readPart(descriptor: number, { maxBytes, fromStart }: BoundedRead): Buffer {
  const chunks: Buffer[] = []
  let total = 0
  while (total < maxBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes - total))
    const length = readSync(descriptor, chunk, 0, chunk.length, fromStart ? total : null)
    if (length === 0) break
    chunks.push(chunk.subarray(0, length))
    total += length
  }
  return Buffer.concat(chunks)
}
