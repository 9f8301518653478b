/** True for a view that is a small part of its block of memory, all of which it keeps as long as it is kept itself. */
export function isSmallPart({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength > 2 * byteLength
}

/** Copies bytes into memory of their own; a `Buffer`, as which much comes, would give a view by `slice`. */
export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}
