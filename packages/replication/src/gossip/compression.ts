/**
 * Compression by gzip, as a port: fflate here, as it runs everywhere; an application on Node may bring
 * `node:zlib`.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { Gunzip, gzipSync } from 'fflate'
import { MAX_WHOLE_INFLATED_BYTES, INFLATED_PIECE_BYTES } from '../limits.ts'

/** The text that a gzip inflates to: all of it, or piece by piece. */
export type Inflated = Uint8Array | AsyncIterable<Uint8Array>

export interface Compression {
  gzip(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** The bytes that these inflate to, by their own word, which may be a lie; undefined for what is no gzip. */
  inflatedBytes(bytes: Uint8Array): number | undefined
  /**
   * Inflates. If `maxBytes` is more than 1 MiB, the text should come in pieces of about 256 KiB, to save memory.
   *
   * @returns undefined for bytes that are no gzip, or that inflate to nothing or to more than `maxBytes`. Pieces throw instead.
   *   A caller that stops early must call their `return`
   */
  gunzip(bytes: Uint8Array, maxBytes: number): Inflated | undefined | Promise<Inflated | undefined>
}

/** 1 KiB inflates to 1 MiB at most: that much comes out at once, and a bomb is noticed early. */
const INPUT_SLICE_BYTES = 1024

export function createCompression(clock: Clock): Compression {
  return {
    gzip: (bytes) => gzipSync(bytes, { mtime: 0 }),
    inflatedBytes: inflatedBytesOf,
    gunzip: (bytes, maxBytes) => {
      const pieces = boundPieces(inflate(bytes, clock), maxBytes)
      return maxBytes > MAX_WHOLE_INFLATED_BYTES ? pieces : joinPieces(pieces, maxBytes)
    },
  }
}

/** Throws instead of a piece with which there would be more than `maxBytes`, and at the end where there was nothing. */
export async function* boundPieces(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) throw new RangeError('inflates beyond its bound')
    yield piece
  }
  if (size === 0) throw new RangeError('inflates to nothing')
}

async function joinPieces(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const whole = new Uint8Array(maxBytes)
  let size = 0
  try {
    for await (const piece of pieces) {
      whole.set(piece, size)
      size += piece.length
    }
  } catch {
    return undefined
  }
  return whole.subarray(0, size)
}

async function* inflate(bytes: Uint8Array, clock: Clock): AsyncGenerator<Uint8Array, void> {
  let parts: Uint8Array[] = []
  let size = 0
  const stream = new Gunzip((part) => {
    parts.push(part)
    size += part.length
  })
  const budget = loopBudget(clock)
  for (let at = 0; at < bytes.length; at += INPUT_SLICE_BYTES) {
    const end = at + INPUT_SLICE_BYTES
    stream.push(bytes.subarray(at, end), end >= bytes.length)
    if (size >= INFLATED_PIECE_BYTES || end >= bytes.length) {
      yield* parts
      parts = []
      size = 0
    }
    const turn = budget.turn('members')
    if (turn !== undefined) await turn
  }
}

/** The shortest that gzip makes, in bytes: its header and its trailer. */
const LEAST_GZIP_BYTES = 18

/** Reads from the end of a gzip how many bytes it inflates to; undefined for what is no gzip. */
export function inflatedBytesOf(gzip: Uint8Array): number | undefined {
  if (gzip.length < LEAST_GZIP_BYTES || gzip[0] !== 0x1f || gzip[1] !== 0x8b) return undefined
  const view = new DataView(gzip.buffer, gzip.byteOffset, gzip.byteLength)
  return view.getUint32(gzip.length - 4, true)
}
