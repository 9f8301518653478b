/**
 * Paths of a share as text. Linux allows names that are not UTF-8. In the text of such a name, U+DC00 + byte takes the place
 * of each byte above ASCII, so that it goes back to the same bytes. Only such names hold lone surrogates.
 */
import { sep } from 'node:path'

const RAW_BYTE = 0xdc00
const ASCII_END = 0x80
const SLASH = 0x2f
/** A name may begin with a byte order mark, which is a character of it. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a path of names joined by `/`, or one name. Any bytes are a path. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return splitNames(bytes).map(decodeName).join('/')
  }
}

function splitNames(bytes: Uint8Array): Uint8Array[] {
  const names: Uint8Array[] = []
  let start = 0
  for (let at = bytes.indexOf(SLASH); at !== -1; at = bytes.indexOf(SLASH, start)) {
    names.push(bytes.subarray(start, at))
    start = at + 1
  }
  return [...names, bytes.subarray(start)]
}

function decodeName(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    const units = Array.from(bytes, (byte) => (byte < ASCII_END ? byte : RAW_BYTE + byte))
    return units.map((unit) => String.fromCharCode(unit)).join('')
  }
}

/** Encodes a path that `decodePath` made into the bytes that it was made of. */
export function encodePath(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path)
  const names = path.split('/').map((name) => Buffer.from(name, name.isWellFormed() ? 'utf8' : 'latin1'))
  return Buffer.concat(names.flatMap((name, at) => (at === 0 ? [name] : [Buffer.from('/'), name])))
}

/** The bytes of a path that `decodePath` made. */
export function pathByteLength(path: string): number {
  return path.isWellFormed() ? Buffer.byteLength(path) : encodePath(path).byteLength
}

/** Writes a path for people: `caf\xe9` where a name is no UTF-8. */
export function shownPath(path: string): string {
  return path.isWellFormed()
    ? path
    : path.replace(/\p{Cs}/gu, (unit) => `\\x${(unit.charCodeAt(0) - RAW_BYTE).toString(16)}`)
}

/** Joins a folder of this machine and a path of a share, for calls of the system: bytes where text cannot say it. */
export function placeIn(folder: string, path: string): string | Buffer {
  const place =
    path === '' ? folder : `${folder}${folder.endsWith(sep) ? '' : sep}${path.replaceAll('/', sep)}`
  if (path.isWellFormed()) return place
  return Buffer.concat([Buffer.from(place.slice(0, place.length - path.length)), encodePath(path)])
}
