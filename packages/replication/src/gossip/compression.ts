/**
 * Compression by gzip, as a port: fflate here, as it runs everywhere; an application on Node may bring
 * `node:zlib`.
 */
import { type Clock, delay } from '@mesh/core'
import { Gunzip, gzipSync } from 'fflate'
import { SLICE_MS } from '../limits.ts'

export interface Compression {
  gzip(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** The bytes that these inflate to, by their own word, which may be a lie; undefined for what is no gzip. */
  inflatedBytes(bytes: Uint8Array): number | undefined
  /** Undefined for bytes that are no gzip, or as soon as the output passes `maxBytes`. */
  gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /**
   * Frees at once what `gunzip` gave, which nobody uses any more: until buffers of 60 MiB are collected, several of them
   * may stand beside each other.
   */
  release?(inflated: Uint8Array): void
}

/** 4 KiB inflate to 4 MiB at most, so a bomb is noticed early. */
const INPUT_SLICE_BYTES = 4096

export function createCompression(clock: Clock): Compression {
  return {
    gzip: (bytes) => gzipSync(bytes, { mtime: 0 }),
    inflatedBytes: inflatedBytesOf,
    gunzip: (bytes, maxBytes) => inflate(bytes, maxBytes, clock),
  }
}

async function inflate(bytes: Uint8Array, maxBytes: number, clock: Clock): Promise<Uint8Array | undefined> {
  // in one piece: parts that are joined afterwards take twice the memory for a while
  const whole = new Uint8Array(maxBytes)
  let size = 0
  const stream = new Gunzip((part) => {
    if (size + part.length > maxBytes) throw new RangeError('inflates beyond its bound')
    whole.set(part, size)
    size += part.length
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
  return size === 0 ? undefined : whole.subarray(0, size)
}

/** The shortest that gzip makes, in bytes: its header and its trailer. */
const LEAST_GZIP_BYTES = 18

/** Reads from the end of a gzip how many bytes it inflates to; undefined for what is no gzip. */
export function inflatedBytesOf(gzip: Uint8Array): number | undefined {
  if (gzip.length < LEAST_GZIP_BYTES || gzip[0] !== 0x1f || gzip[1] !== 0x8b) return undefined
  const view = new DataView(gzip.buffer, gzip.byteOffset, gzip.byteLength)
  return view.getUint32(gzip.length - 4, true)
}
