/**
 * A pull scanner over the bytes of one JSON text: the caller asks for what it expects next, numbers keep their
 * text (versions do not fit a double), and what is not wanted is skipped without being built. Bad input is a
 * `JsonSyntaxError`; the decoder around it turns that into a count.
 */
import { MAX_JSON_DEPTH } from '../limits.ts'

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

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
  return new ByteScanner(bytes)
}

class ByteScanner implements JsonScanner {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get offset(): number {
    return this.#at
  }

  kind(): JsonKind {
    const byte = this.#peek()
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
        return isNumberByte(byte) ? 'number' : this.#fail('a value')
    }
  }

  openObject(): () => string | undefined {
    this.#take(OPEN_OBJECT, 'an object')
    let first = true
    return () => {
      if (this.#peek() === CLOSE_OBJECT) {
        this.#at++
        return undefined
      }
      if (!first) this.#take(COMMA, 'a comma or the end of an object')
      first = false
      const key = this.string()
      this.#take(COLON, 'a colon')
      if (this.#peek() === CLOSE_OBJECT) this.#fail('a value')
      return key
    }
  }

  string(): string {
    this.#take(QUOTE, 'a string')
    const start = this.#at
    const ascii = this.#passContent()
    const end = this.#at - 1
    if (ascii) return asciiText(this.#bytes, start, end)
    const text = decoder.decode(this.#bytes.subarray(start, end))
    if (!text.includes('\\')) return text
    try {
      return (JSON.parse(`"${text}"`) as string).toWellFormed()
    } catch {
      return this.#fail('a string with valid escapes')
    }
  }

  number(): string {
    this.#peek()
    const start = this.#at
    while (isNumberByte(this.#bytes[this.#at])) this.#at++
    const text = asciiText(this.#bytes, start, this.#at)
    return NUMBER.test(text) ? text : this.#fail('a number')
  }

  boolean(): boolean {
    const isTrue = this.#peek() === 0x74
    this.#literal(isTrue ? 'true' : 'false')
    return isTrue
  }

  null(): void {
    this.#literal('null')
  }

  seek(offset: number): void {
    this.#at = offset
  }

  /** Without recursion, so that deep nesting costs memory for its depth only. */
  skip(): void {
    const closers: number[] = []
    for (;;) {
      if (this.#enters(closers)) continue
      // A value has ended: close what ends with it, then go to the next one.
      while (closers.length > 0 && this.#peek() === closers.at(-1)) {
        this.#at++
        closers.pop()
      }
      if (closers.length === 0) return
      this.#take(COMMA, 'a comma or the end of a list')
      if (closers.at(-1) === CLOSE_OBJECT) this.#passKey()
    }
  }

  end(): void {
    if (this.#peek() !== -1) this.#fail('the end')
  }

  /** Skips a scalar, or goes into a list or object; true when what it went into is not empty. */
  #enters(closers: number[]): boolean {
    const byte = this.#peek()
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) {
      this.#skipScalar()
      return false
    }
    if (closers.length >= MAX_JSON_DEPTH) this.#fail(`at most ${MAX_JSON_DEPTH} levels`)
    this.#at++
    closers.push(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)
    if (this.#peek() === closers.at(-1)) return false
    if (byte === OPEN_OBJECT) this.#passKey()
    return true
  }

  #skipScalar(): void {
    switch (this.kind()) {
      case 'string':
        this.string()
        return
      case 'number':
        this.number()
        return
      case 'boolean':
        this.boolean()
        return
      case 'null':
        return this.null()
      case 'object':
      case 'array':
        this.#fail('a scalar')
    }
  }

  #passKey(): void {
    this.string()
    this.#take(COLON, 'a colon')
  }

  /** Passes a string's content and its closing quote; true when it is ASCII without escapes. */
  #passContent(): boolean {
    const bytes = this.#bytes
    let ascii = true
    let at = this.#at
    for (;;) {
      const byte = bytes[at] ?? -1
      if (byte === QUOTE) break
      if (byte < 0x20) {
        this.#at = at
        this.#fail(byte === -1 ? 'the end of a string' : 'a string without control characters')
      }
      if (byte >= 0x80) ascii = false
      if (byte === BACKSLASH) {
        ascii = false
        at++
      }
      at++
    }
    this.#at = at + 1
    return ascii
  }

  /** The next byte that is no white space; -1 at the end. */
  #peek(): number {
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) this.#at++
      else return byte ?? -1
    }
  }

  #take(byte: number, expected: string): void {
    if (this.#peek() !== byte) this.#fail(expected)
    this.#at++
  }

  #literal(text: string): void {
    this.#peek()
    for (let index = 0; index < text.length; index++) {
      if (this.#bytes[this.#at + index] !== text.charCodeAt(index)) this.#fail(text)
    }
    this.#at += text.length
  }

  #fail(expected: string): never {
    throw new JsonSyntaxError(`expected ${expected} at byte ${this.#at}`)
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
