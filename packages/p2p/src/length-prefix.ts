/** The length that stands before each frame on a stream, as an unsigned varint. */

/** The bit of a byte after which another one follows. */
export const PREFIX_CONTINUES = 0x80
/** Lengths up to 2^28 - 1, more than any bound here. */
export const MAX_PREFIX_BYTES = 4

export function encodePrefix(length: number): Uint8Array {
  const bytes: number[] = []
  let rest = length
  while (rest >= PREFIX_CONTINUES) {
    bytes.push((rest & ~PREFIX_CONTINUES & 0xff) | PREFIX_CONTINUES)
    rest >>>= 7
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}
