/** Compression by node:zlib: several times as fast as in JavaScript, and large blocks off the main thread. */
import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib'
import type { Compression } from '@mesh/replication'

/** Below this the way to another thread costs more than the work; inflated it is 16 MiB at most. */
const MAX_INLINE_BYTES = 16 * 1024

const gzipElsewhere = promisify<Uint8Array, Buffer>(gzip)
const gunzipElsewhere = promisify<Uint8Array, { readonly maxOutputLength: number }, Buffer>(gunzip)

export const zlibCompression: Compression = {
  gzip: (bytes) => (bytes.length > MAX_INLINE_BYTES ? gzipElsewhere(bytes) : gzipSync(bytes)),
  async gunzip(bytes, maxBytes) {
    const options = { maxOutputLength: maxBytes }
    try {
      const inflated =
        bytes.length > MAX_INLINE_BYTES ? await gunzipElsewhere(bytes, options) : gunzipSync(bytes, options)
      return inflated.length === 0 ? undefined : inflated
    } catch {
      return undefined
    }
  },
}
