/** Names of DNS: as bytes, as text with a trailing dot, and made from what people and addresses are called. */
import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from './limits.ts'

/** The characters that a zone file writes with a backslash before them. */
const SPECIAL = new Set(Buffer.from(`. '@;()"\\`))

/**
 * The text of the name that begins at `offset`, in lower case and with a trailing dot; what is no plain character
 * comes as `\.` or `\032`. The name must be whole and uncompressed.
 */
export function nameText(bytes: Uint8Array, offset: number): string {
  let text = ''
  for (let at = offset; ; ) {
    const length = bytes[at++] ?? 0
    if (length === 0) return text === '' ? '.' : text
    for (const end = at + length; at < end; at++) text += characterText(bytes[at] ?? 0)
    text += '.'
  }
}

function characterText(byte: number): string {
  if (byte >= 0x41 && byte <= 0x5a) return String.fromCharCode(byte + 0x20)
  if (byte < 0x20 || byte > 0x7e) return `\\${String(byte).padStart(3, '0')}`
  const character = String.fromCharCode(byte)
  return SPECIAL.has(byte) ? `\\${character}` : character
}

/** The bytes of a name in the form of zone files, with or without the trailing dot; undefined when it is none. */
export function parseName(text: string): Uint8Array | undefined {
  if (text === '.') return new Uint8Array(1)
  if (text === '' || text.length > 4 * MAX_NAME_BYTES) return undefined
  const bytes: number[] = [0]
  let lengthAt = 0
  const tokens = /\\(\d{3})|\\([^\d])|([^\\])/gsy
  for (let at = 0; at < text.length; at = tokens.lastIndex) {
    tokens.lastIndex = at
    const token = tokens.exec(text)
    if (token === null) return undefined
    const [, decimal, escaped, plain] = token
    if (plain === '.') {
      if (bytes.length - lengthAt === 1) return undefined
      lengthAt = bytes.length
      bytes.push(0)
      continue
    }
    const byte = decimal === undefined ? (escaped ?? plain ?? '').charCodeAt(0) : Number(decimal)
    if (byte > 0xff || (decimal === undefined && byte > 0x7e)) return undefined
    bytes.push(byte)
    bytes[lengthAt] = (bytes[lengthAt] ?? 0) + 1
    if ((bytes[lengthAt] ?? 0) > MAX_LABEL_BYTES) return undefined
  }
  if (bytes.length - lengthAt > 1) bytes.push(0)
  return bytes.length > MAX_NAME_BYTES ? undefined : Uint8Array.from(bytes)
}

/** The name as `nameText` writes it; undefined when the text is no name. */
export function canonicalName(text: string): string | undefined {
  const bytes = parseName(text)
  return bytes === undefined ? undefined : nameText(bytes, 0)
}

/** Is `name` the zone itself, or under it? Both as `nameText` writes them. */
export function isUnder(name: string, zone: string): boolean {
  if (zone === '.' || name === zone) return true
  if (!name.endsWith(zone) || name[name.length - zone.length - 1] !== '.') return false
  // `a\.mesh.` is one label
  let backslashes = 0
  while (name[name.length - zone.length - 2 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 0
}

/** One label of letters, digits and dashes from whatever a machine or service calls itself; '' when nothing is left. */
export function labelOf(text: string): string {
  return text
    .slice(0, 4 * MAX_LABEL_BYTES)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LABEL_BYTES)
    .replaceAll(/^-+|-+$/g, '')
}
