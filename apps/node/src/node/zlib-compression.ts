/** Compression by node:zlib: several times as fast as in JavaScript, and large blocks off the main thread. */
import { promisify } from 'node:util'
import { createGunzip, gunzipSync, gzip, gzipSync } from 'node:zlib'
import { type Compression, inflatedBytesOf } from '@mesh/replication'

/** Up to this the way to another thread costs more than the work. */
const MAX_INLINE_BYTES = 16 * 1024
/** The most that is inflated on the main thread, in bytes: it takes a millisecond. */
const MAX_INLINE_INFLATED_BYTES = 1024 * 1024

/** The least that zlib takes. */
const LEAST_CHUNK_BYTES = 64

const gzipElsewhere = promisify<Uint8Array, Buffer>(gzip)

export const zlibCompression: Compression = {
  gzip: (bytes) => (bytes.length > MAX_INLINE_BYTES ? gzipElsewhere(bytes) : gzipSync(bytes)),
  inflatedBytes: inflatedBytesOf,
  async gunzip(bytes, maxBytes) {
    try {
      const isSmall = bytes.length <= MAX_INLINE_BYTES && maxBytes <= MAX_INLINE_INFLATED_BYTES
      const inflated = isSmall ? gunzipHere(bytes, maxBytes) : await gunzipElsewhere(bytes, maxBytes)
      return inflated?.length === 0 ? undefined : inflated
    } catch {
      return undefined
    }
  },
  release,
}

/** The length of a piece, in bytes: all of it at once, as several would be joined, and take twice the memory for a while. */
const chunkSizeOf = (maxBytes: number) => Math.max(LEAST_CHUNK_BYTES, maxBytes + 1)

function gunzipHere(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes), chunkSize: chunkSizeOf(maxBytes) })
}

/**
 * Inflates on another thread. What a gzip inflated to before it failed is freed at once, too: a wrong checksum shows when
 * all is inflated, and several such would stand beside each other until they are collected.
 */
async function gunzipElsewhere(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | undefined> {
  const engine: Engine = createGunzip({ chunkSize: chunkSizeOf(maxBytes) })
  let inflated: Uint8Array = new Uint8Array(0)
  try {
    engine.end(bytes)
    for await (const part of engine as AsyncIterable<Buffer>) {
      // on its thread the engine writes on, so that its memory has to stay
      if (inflated.length > 0 || part.length > maxBytes) return undefined
      inflated = part
    }
    return inflated
  } catch (error) {
    // only the engine throws here, when it has ended
    if (engine._outBuffer !== undefined) release(engine._outBuffer)
    throw error
  }
}

/** Node's own name for what is inflated into; without it that is collected later. */
type Engine = ReturnType<typeof createGunzip> & { readonly _outBuffer?: Uint8Array }

function release({ buffer }: Uint8Array): void {
  // a small one may lie in the pool that all buffers share
  if (buffer instanceof ArrayBuffer && buffer.byteLength > MAX_INLINE_INFLATED_BYTES) buffer.transfer(0)
}
