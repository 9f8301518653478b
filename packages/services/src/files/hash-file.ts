import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

const READ_BYTES = 1 << 20

/**
 * SHA-256 of the first `byteCount` bytes, to go on with; undefined where the file is shorter.
 *
 * @param turn is waited for before each MiB is hashed
 * @throws the signal's reason; what reading throws
 */
export async function hashPrefix(
  file: FileHandle,
  byteCount: number,
  { signal, turn }: { readonly signal: AbortSignal; readonly turn?: () => Promise<void> | undefined },
): Promise<Hash | undefined> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, byteCount))
  for (let at = 0; at < byteCount; ) {
    signal.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.byteLength, byteCount - at), at)
    if (bytesRead === 0) return undefined
    await turn?.()
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash
}

/** The digest so far; the hash can go on. 32 bytes. */
export function digestSoFar(hash: Hash): Uint8Array {
  return hash.copy().digest()
}
