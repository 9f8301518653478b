/** True for a view that is a small part of its block of memory, all of which it keeps as long as it is kept itself. */
export function isSmallPart({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength > 2 * byteLength
}
