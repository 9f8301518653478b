/**
 * Compression by gzip, as a port: fflate here, as it runs everywhere; an application on Node may bring
 * `node:zlib`.
 */
import { type Clock, delay } from '@mesh/core'
import { Gunzip, gzipSync } from 'fflate'
import { SLICE_MS } from '../limits.ts'

export interface Compression {
  gzip(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Undefined for bytes that are no gzip, or as soon as the output passes `maxBytes`. */
  gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** 4 KiB inflate to 4 MiB at most, so a bomb is noticed early. */
const INPUT_SLICE_BYTES = 4096

export function createCompression(clock: Clock): Compression {
  return {
    gzip: (bytes) => gzipSync(bytes, { mtime: 0 }),
    gunzip: (bytes, maxBytes) => inflate(bytes, maxBytes, clock),
  }
}

async function inflate(bytes: Uint8Array, maxBytes: number, clock: Clock): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  const stream = new Gunzip((part) => {
    size += part.length
    if (size > maxBytes) throw new RangeError('inflates beyond its bound')
    parts.push(part)
  })
  let sliceEnd = clock.monotonic() + SLICE_MS
  try {
    for (let at = 0; at < bytes.length; at += INPUT_SLICE_BYTES) {
      const end = at + INPUT_SLICE_BYTES
      stream.push(bytes.subarray(at, end), end >= bytes.length)
      if (clock.monotonic() < sliceEnd) continue
      await delay(clock, 0)
      sliceEnd = clock.monotonic() + SLICE_MS
    }
  } catch {
    return undefined
  }
  return size === 0 ? undefined : concat(parts, size)
}

function concat(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
