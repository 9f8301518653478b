/**
 * Joins texts so that no two lists give the same bytes. Each text becomes an 8-byte big-endian length and its UTF-8, as in
 * the signed form of ledger entries (docs/WIRE.md 4.3).
 */
export function frameTexts(...texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => new TextEncoder().encode(text))
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 8 + part.length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const part of parts) {
    view.setBigUint64(at, BigInt(part.length))
    bytes.set(part, at + 8)
    at += 8 + part.length
  }
  return bytes
}
