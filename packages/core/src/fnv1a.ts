const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
const encoder = new TextEncoder()

/** FNV-1a, 32 bits, over the text's UTF-8: short and the same everywhere, and no protection against who looks for equals. */
export function fnv1a32(text: string): number {
  const bytes = encoder.encode(text)
  let hash = OFFSET_BASIS
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME)
  return hash >>> 0
}
