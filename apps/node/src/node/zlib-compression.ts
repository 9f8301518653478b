/** Compression by node:zlib: several times as fast as in JavaScript, and large blocks off the main thread. */
import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync, type ZlibOptions } from 'node:zlib'
import { type Compression, inflatedBytesOf } from '@mesh/replication'

/** Below this the way to another thread costs more than the work; inflated it is 16 MiB at most. */
const MAX_INLINE_BYTES = 16 * 1024

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
      const inflated =
        bytes.length > MAX_INLINE_BYTES ? await gunzipElsewhere(bytes, options) : gunzipSync(bytes, options)
      return inflated.length === 0 ? undefined : inflated
    } catch {
      return undefined
    }
  },
}
