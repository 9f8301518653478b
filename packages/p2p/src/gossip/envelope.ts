/** The envelope of a gossip message: JSON with the sealed text in it (docs/WIRE.md 3.2). */

/** Writes the bytes that legacy nodes write for a sealed text. */
export function encodeEnvelope(sealedHex: string): Uint8Array {
  return new TextEncoder().encode(`{"Message":"${sealedHex}","SenderID":"","Annotations":null}`)
}

/**
 * Gives the sealed text, or undefined for what is no envelope. It is read as legacy nodes read it: the key in any
 * case, other keys ignored.
 */
export function decodeEnvelope(bytes: Uint8Array): string | undefined {
  let envelope: unknown
  try {
    envelope = JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
  if (typeof envelope !== 'object' || envelope === null) return undefined
  const key = Object.hasOwn(envelope, 'Message')
    ? 'Message'
    : Object.keys(envelope).find((name) => name.toLowerCase() === 'message')
  const sealed: unknown = key === undefined ? undefined : (envelope as Record<string, unknown>)[key]
  return typeof sealed === 'string' ? sealed : undefined
}

const decoder = new TextDecoder('utf-8', { fatal: true })
