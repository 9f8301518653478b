/** Compression by node:zlib: several times as fast as in JavaScript, and large blocks off the main thread. */
import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync, type ZlibOptions } from 'node:zlib'
import { type Compression, inflatedBytesOf } from '@mesh/replication'

/** Up to this the way to another thread costs more than the work. */
const MAX_INLINE_BYTES = 16 * 1024
/** The most that is inflated on the main thread, in bytes: it takes a millisecond. */
const MAX_INLINE_INFLATED_BYTES = 1024 * 1024

/** The least that zlib takes. */
const LEAST_CHUNK_BYTES = 64

const gzipElsewhere = promisify<Uint8Array, Buffer>(gzip)
const gunzipElsewhere = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)

export const zlibCompression: Compression = {
  gzip: (bytes) => (bytes.length > MAX_INLINE_BYTES ? gzipElsewhere(bytes) : gzipSync(bytes)),
  inflatedBytes: inflatedBytesOf,
  async gunzip(bytes, maxBytes) {
    // in one piece: several would be joined, and take twice the memory for a while
    const options = {
      maxOutputLength: Math.max(1, maxBytes),
      chunkSize: Math.max(LEAST_CHUNK_BYTES, maxBytes + 1),
    }
    try {
      const isSmall = bytes.length <= MAX_INLINE_BYTES && maxBytes <= MAX_INLINE_INFLATED_BYTES
      const inflated = isSmall ? gunzipSync(bytes, options) : await gunzipElsewhere(bytes, options)
      return inflated.length === 0 ? undefined : inflated
    } catch {
      return undefined
    }
  },
  release({ buffer }) {
    // a small one may lie in the pool that all buffers share
    if (buffer instanceof ArrayBuffer && buffer.byteLength > MAX_INLINE_INFLATED_BYTES) buffer.transfer(0)
  },
}
