/** The envelope of a gossip message: JSON with the sealed text in it (docs/WIRE.md 3.2). */
import { MAX_ENVELOPE_PARTS } from './limits.ts'
import { LONG_MESSAGE_BYTES } from '../limits.ts'

const [START, END] = ['{"Message":"', '","SenderID":"","Annotations":null}'] as const

/** Writes the bytes that legacy nodes write for a sealed text. */
export function encodeEnvelope(sealedHex: string): Uint8Array {
  return new TextEncoder().encode(`${START}${sealedHex}${END}`)
}

/**
 * Gives the bytes of the sealed text, or undefined for what is no envelope. Reads like legacy nodes: the key in any case, other keys
 * ignored. A long envelope must look as they write it, because other forms take twice the memory.
 */
export function decodeEnvelope(bytes: Uint8Array): Uint8Array | undefined {
  const usual = findUsual(bytes)
  if (usual !== undefined || bytes.length >= LONG_MESSAGE_BYTES) return usual
  const sealed = fieldOf(parseEnvelope(bytes), 'Message')
  return typeof sealed === 'string' ? new TextEncoder().encode(sealed) : undefined
}

/** Gives the sealed text of an envelope as legacy nodes write it, without a copy; undefined for any other. */
function findUsual(bytes: Uint8Array): Uint8Array | undefined {
  if (!hasAt(bytes, START, 0) || !hasAt(bytes, END, bytes.length - END.length)) return undefined
  const sealed = bytes.subarray(START.length, bytes.length - END.length)
  return sealed.includes(QUOTE) || sealed.includes(ESCAPE) ? undefined : sealed
}

const [QUOTE, ESCAPE] = [0x22, 0x5c]

function hasAt(bytes: Uint8Array, text: string, at: number): boolean {
  if (at < 0 || bytes.length < START.length + END.length) return false
  for (let index = 0; index < text.length; index++)
    if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

/** Writes the bytes of a message on the public topic, whose annotations travel in the open. */
export function encodePublicEnvelope(sealedHex: string, signature: string): Uint8Array {
  const envelope = { Message: sealedHex, SenderID: '', Annotations: { sigs: signature } }
  return new TextEncoder().encode(JSON.stringify(envelope))
}

/** Gives what a message on the public topic holds, or undefined for what is no envelope. */
export function decodePublicEnvelope(
  bytes: Uint8Array,
): { readonly sealed: string; readonly signature: string } | undefined {
  const envelope = parseEnvelope(bytes)
  const sealed = fieldOf(envelope, 'Message')
  if (typeof sealed !== 'string') return undefined
  const annotations = fieldOf(envelope, 'Annotations')
  const signature =
    typeof annotations === 'object' && annotations !== null && Object.hasOwn(annotations, 'sigs')
      ? (annotations as Record<string, unknown>)['sigs']
      : undefined
  return { sealed, signature: typeof signature === 'string' ? signature : '' }
}

function parseEnvelope(bytes: Uint8Array): unknown {
  if (!hasFewParts(bytes)) return undefined
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

const [LIST, OBJECT, NEXT] = [0x5b, 0x7b, 0x2c]

/** False for JSON of more values than an envelope has. `indexOf` looks for them faster than a loop. */
function hasFewParts(bytes: Uint8Array): boolean {
  let parts = 0
  for (const byte of [LIST, OBJECT, NEXT])
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1))
      if (++parts > MAX_ENVELOPE_PARTS) return false
  return true
}

function fieldOf(envelope: unknown, field: string): unknown {
  if (typeof envelope !== 'object' || envelope === null) return undefined
  const key = Object.hasOwn(envelope, field)
    ? field
    : Object.keys(envelope).find((name) => name.toLowerCase() === field.toLowerCase())
  return key === undefined ? undefined : (envelope as Record<string, unknown>)[key]
}

const decoder = new TextDecoder('utf-8', { fatal: true })
