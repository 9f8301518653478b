/**
 * Compression by gzip, as a port: fflate here, as it runs everywhere; an application on Node may bring
 * `node:zlib`.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { Gunzip, gzipSync } from 'fflate'

export interface Compression {
  gzip(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** The bytes that these inflate to, by their own word, which may be a lie; undefined for what is no gzip. */
  inflatedBytes(bytes: Uint8Array): number | undefined
  /** Inflates. Undefined for bytes that are no gzip, or that inflate to nothing or to more than `maxBytes`. */
  gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** 1 KiB inflates to 1 MiB at most: that much comes out at once, and a bomb is noticed early. */
const INPUT_SLICE_BYTES = 1024

export function createCompression(clock: Clock): Compression {
  return {
    gzip: (bytes) => gzipSync(bytes, { mtime: 0 }),
    inflatedBytes: inflatedBytesOf,
    gunzip: (bytes, maxBytes) => inflate(bytes, maxBytes, clock).catch(() => undefined),
  }
}

/** Inflates in the time of the loop budget. Throws for what is no gzip, and for more than `maxBytes`. */
async function inflate(bytes: Uint8Array, maxBytes: number, clock: Clock): Promise<Uint8Array | undefined> {
  const whole = new Uint8Array(maxBytes)
  let size = 0
  const stream = new Gunzip((part) => {
    whole.set(part, size)
    size += part.length
  })
  const budget = loopBudget(clock)
  for (let at = 0; at < bytes.length; at += INPUT_SLICE_BYTES) {
    const end = at + INPUT_SLICE_BYTES
    stream.push(bytes.subarray(at, end), end >= bytes.length)
    const turn = budget.turn('members')
    if (turn !== undefined) await turn
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
