/**
 * A pull scanner over the bytes of one JSON text: the caller asks for what it expects next, numbers keep their
 * text (versions do not fit a double), and what is not wanted is skipped without being built. Bad input is a
 * `JsonSyntaxError`; the decoder around it turns that into a count.
 */
import { MAX_JSON_DEPTH } from './limits.ts'

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export interface JsonScanner {
  /** Offset of the next byte. */
  readonly offset: number
  /** What comes next. */
  kind(): JsonKind
  /** Enters an object, yields its next key each time it is called, undefined when the object has ended. */
  openObject(): () => string | undefined
  string(): string
  /** A number's text as written. */
  number(): string
  boolean(): boolean
  null(): void
  /** Goes on at an offset that an earlier call gave. */
  seek(offset: number): void
  /** Skips one value of any kind, checking its form. */
  skip(): void
  /** @throws JsonSyntaxError when more than white space is left */
  end(): void
}

export function createJsonScanner(bytes: Uint8Array): JsonScanner {
  let at = 0

  const fail = (expected: string): never => {
    throw new JsonSyntaxError(`expected ${expected} at byte ${at}`)
  }
  const peek = (): number => {
    for (;;) {
      const byte = bytes[at]
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) at++
      else return byte ?? -1
    }
  }
  const take = (byte: number, expected: string) => {
    if (peek() !== byte) fail(expected)
    at++
  }
  const literal = (text: string) => {
    peek()
    for (let index = 0; index < text.length; index++) {
      if (bytes[at + index] !== text.charCodeAt(index)) fail(text)
    }
    at += text.length
  }
  /** Passes a string token; returns where its content begins and whether it needs decoding beyond ASCII. */
  const passString = (): { start: number; plain: boolean } => {
    take(QUOTE, 'a string')
    const start = at
    let plain = true
    for (;;) {
      const byte = bytes[at] ?? fail('the end of a string')
      if (byte === QUOTE) break
      if (byte < 0x20) fail('a string without control characters')
      if (byte >= 0x80) plain = false
      if (byte === BACKSLASH) {
        plain = false
        at++
      }
      at++
    }
    at++
    return { start, plain }
  }
  const string = (): string => {
    const { start, plain } = passString()
    const end = at - 1
    if (plain) return asciiText(bytes, start, end)
    const text = decoder.decode(bytes.subarray(start, end))
    if (!text.includes('\\')) return text
    try {
      return (JSON.parse(`"${text}"`) as string).toWellFormed()
    } catch {
      return fail('a string with valid escapes')
    }
  }
  const number = (): string => {
    peek()
    const start = at
    while (isNumberByte(bytes[at])) at++
    const text = asciiText(bytes, start, at)
    return NUMBER.test(text) ? text : fail('a number')
  }
  const boolean = (): boolean => {
    const isTrue = peek() === 0x74
    literal(isTrue ? 'true' : 'false')
    return isTrue
  }
  const kind = (): JsonKind => {
    const byte = peek()
    switch (byte) {
      case OPEN_OBJECT:
        return 'object'
      case OPEN_ARRAY:
        return 'array'
      case QUOTE:
        return 'string'
      case 0x74:
      case 0x66:
        return 'boolean'
      case 0x6e:
        return 'null'
      default:
        return isNumberByte(byte) ? 'number' : fail('a value')
    }
  }
  const openObject = () => {
    take(OPEN_OBJECT, 'an object')
    let first = true
    return (): string | undefined => {
      if (peek() === CLOSE_OBJECT) {
        at++
        return undefined
      }
      if (!first) take(COMMA, 'a comma or the end of an object')
      first = false
      const key = string()
      take(COLON, 'a colon')
      if (peek() === CLOSE_OBJECT) fail('a value')
      return key
    }
  }
  const skipScalar = () => {
    switch (kind()) {
      case 'string':
        return string()
      case 'number':
        return number()
      case 'boolean':
        return boolean()
      case 'null':
        return literal('null')
      case 'object':
      case 'array':
        return fail('a scalar')
    }
  }
  /** Without recursion, so that deep nesting costs memory for its depth only. */
  const skip = () => {
    const closers: number[] = []
    for (;;) {
      const byte = peek()
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (closers.length >= MAX_JSON_DEPTH) fail(`at most ${MAX_JSON_DEPTH} levels`)
        at++
        closers.push(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)
        if (peek() !== closers.at(-1)) {
          if (byte === OPEN_OBJECT) passKey()
          continue
        }
      } else skipScalar()
      // A value has ended: close what ends with it, then go to the next one.
      while (closers.length > 0 && peek() === closers.at(-1)) {
        at++
        closers.pop()
      }
      if (closers.length === 0) return
      take(COMMA, 'a comma or the end of a list')
      if (closers.at(-1) === CLOSE_OBJECT) passKey()
    }
  }
  const passKey = () => {
    string()
    take(COLON, 'a colon')
  }
  return {
    get offset() {
      return at
    },
    kind,
    openObject,
    string,
    number,
    boolean,
    null: () => literal('null'),
    seek(offset) {
      at = offset
    },
    skip,
    end() {
      if (peek() !== -1) fail('the end')
    },
  }
}

function isNumberByte(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    (byte | 0x20) === 0x65
  )
}

/** Short texts without the fixed cost of a decoder's call. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 256) return decoder.decode(bytes.subarray(start, end))
  return String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[])
}
