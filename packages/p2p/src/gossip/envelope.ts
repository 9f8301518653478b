/** What a gossip message carries: JSON with the sealed text in it (docs/WIRE.md 3.2). */

/** The bytes that existing nodes write for a sealed text. */
export function encodeEnvelope(sealedHex: string): Uint8Array {
  return new TextEncoder().encode(`{"Message":"${sealedHex}","SenderID":"","Annotations":null}`)
}

/** The sealed text; undefined for what is no envelope. Read as existing nodes do: any case of the key, other keys ignored. */
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
