/** Compression by node:zlib: several times as fast as in JavaScript, and large blocks off the main thread. */
import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync, type ZlibOptions } from 'node:zlib'
import { type Compression, inflatedBytesOf } from '@mesh/replication'

/** Up to this the way to another thread costs more than the work. */
const MAX_INLINE_BYTES = 16 * 1024
/** The same of what comes out. */
const MAX_INFLATED_INLINE_BYTES = 1024 * 1024
/** The least that zlib takes. */
const LEAST_CHUNK_BYTES = 64

const gzipElsewhere = promisify<Uint8Array, Buffer>(gzip)
const gunzipElsewhere = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip)

export const zlibCompression: Compression = {
  gzip: (bytes) => (bytes.length > MAX_INLINE_BYTES ? gzipElsewhere(bytes) : gzipSync(bytes)),
  inflatedBytes: inflatedBytesOf,
  async gunzip(bytes, maxBytes) {
    // all of it at once, as several pieces would be joined, and take twice the memory for a while
    const chunkSize = Math.max(LEAST_CHUNK_BYTES, maxBytes + 1)
    const options = { maxOutputLength: Math.max(1, maxBytes), chunkSize }
    try {
      const isShort = bytes.length <= MAX_INLINE_BYTES && maxBytes <= MAX_INFLATED_INLINE_BYTES
      const inflated = isShort ? gunzipSync(bytes, options) : await gunzipElsewhere(bytes, options)
      return inflated.length === 0 ? undefined : inflated
    } catch {
      return undefined
    }
  },
}
