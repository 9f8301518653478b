/** A block's hash by the ledger's digest, at the same cost for any size. `print-hash.ts` has the legacy one. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { BlockHead } from '../snapshot.ts'

/** The hash of the block before the first: SHA-256 of `0map[]`. */
const GENESIS_HASH = hexHash('0map[]')

export function genesisHead(timestamp: string): BlockHead {
  return { index: 0, timestamp, hash: GENESIS_HASH, prevHash: '' }
}

/** SHA-256 of index, timestamp, the ledger's digest and the previous hash, one behind the other. */
export function hashByDigest(head: Omit<BlockHead, 'hash'>, digest: string): string {
  return hexHash(`${head.index}${head.timestamp}${digest}${head.prevHash}`)
}

/** SHA-256 of a text, in hexadecimal. */
export function hexHash(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)))
}
