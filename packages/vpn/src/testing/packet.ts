/** An IP packet of protocol 253 (for experiments); the payload is zeros, but for `mark` in its first two bytes. */
export function packet(source: string, destination: string, payload: number, mark = 0): Uint8Array {
  const is4 = !source.includes(':')
  const header = is4 ? 20 : 40
  const bytes = new Uint8Array(header + payload)
  if (is4) {
    bytes.set([0x45, 0, (20 + payload) >> 8, 20 + payload, 0, 0, 0x40, 0, 64, 253])
    bytes.set(source.split('.').map(Number), 12)
    bytes.set(destination.split('.').map(Number), 16)
  } else {
    bytes.set([0x60, 0, 0, 0, payload >> 8, payload, 253, 64])
    for (const [at, text] of [
      [8, source],
      [24, destination],
    ] as const) {
      bytes.set([0xfd, 0], at)
      bytes[at + 15] = Number(text.split('::')[1])
    }
  }
  if (payload >= 2) bytes.set([mark >> 8, mark], header)
  return bytes
}

/** The `mark` of a packet that `packet` built. */
export function markOf(bytes: Uint8Array): number {
  const header = (bytes[0] ?? 0) >> 4 === 4 ? 20 : 40
  return ((bytes[header] ?? 0) << 8) | (bytes[header + 1] ?? 0)
}
