/**
 * A pull scanner over the bytes of one JSON text. The caller asks for what it expects next, and skips the rest without
 * building it. Numbers keep their text, because versions do not fit a double. Bad input throws `JsonSyntaxError`, which the
 * decoder counts.
 */
import { MAX_JSON_DEPTH, MAX_STRING_BYTES, MAX_WHITE_SPACE_BYTES } from '../limits.ts'

/** The text is no JSON from some byte on. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

/** A string, number, run of white space or skipped value is longer than its bound. */
export class JsonTooLongError extends Error {
  override readonly name = 'JsonTooLongError'
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

/** Bytes of the longest number: a double has some 20 digits, Go's printers write no more than 330. */
const MAX_NUMBER_BYTES = 1024

export class JsonScanner {
  readonly #bytes: Uint8Array
  #at = 0
  /** Was the string passed last ASCII without escapes? */
  #plain = true

  /** @param bytes the whole text */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#at
  }

  /** Tells the kind of the value that comes next. */
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
        return NUMBER_BYTES.has(byte) ? 'number' : this.#fail('a value')
    }
  }

  /**
   * Enters an object, yields its next key each time it is called, undefined when the object has ended.
   * @param maxKeyBytes the bytes that a key may have as written; `MAX_STRING_BYTES` unless given
   */
  openObject(maxKeyBytes?: number): () => string | undefined {
    this.#take(OPEN_OBJECT, 'an object')
    let first = true
    return () => {
      if (this.#peek() === CLOSE_OBJECT) {
        this.#at++
        return undefined
      }
      if (!first) this.#take(COMMA, 'a comma or the end of an object')
      first = false
      const key = this.string(maxKeyBytes)
      this.#take(COLON, 'a colon')
      if (this.#peek() === CLOSE_OBJECT) this.#fail('a value')
      return key
    }
  }

  /** @throws JsonTooLongError for one of more bytes as written; `MAX_STRING_BYTES` unless given */
  string(maxBytes = MAX_STRING_BYTES): string {
    this.#take(QUOTE, 'a string')
    const start = this.#at
    this.#plain = true
    if (!this.#passContent(start + maxBytes + 1)) throw new JsonTooLongError('a string is too long')
    const end = this.#at - 1
    if (this.#plain) return asciiText(this.#bytes, start, end)
    const text = decoder.decode(this.#bytes.subarray(start, end))
    if (!text.includes('\\')) return text
    try {
      return (JSON.parse(`"${text}"`) as string).toWellFormed()
    } catch {
      return this.#fail('a string with valid escapes')
    }
  }

  /** A number's text as written. */
  number(): string {
    this.#peek()
    const start = this.#at
    while (NUMBER_BYTES.has(this.#bytes[this.#at])) {
      this.#at++
      if (this.#at - start > MAX_NUMBER_BYTES) throw new JsonTooLongError('a number is too long')
    }
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

  /** Goes on at an earlier offset. */
  seek(offset: number): void {
    this.#at = offset
  }

  /**
   * Skips one value of any kind, checking its form. Without recursion, so that deep nesting costs memory for its depth only.
   * @throws JsonTooLongError for one of more than `maxBytes` bytes
   */
  skip(maxBytes: number): void {
    const limit = this.#at + maxBytes
    /** The brackets that close the open objects and arrays. */
    const closers: number[] = []
    let isValueNext = true
    while (isValueNext || closers.length > 0) {
      if (isValueNext) isValueNext = this.#enter(closers, limit)
      else isValueNext = this.#leave(closers, limit)
      if (this.#at > limit) throw new JsonTooLongError('a value is too long')
    }
  }

  /** @throws JsonSyntaxError when more than white space is left */
  end(): void {
    if (this.#peek() !== -1) this.#fail('the end')
  }

  /** Skips a scalar or an empty list or object, or goes into one; true when a value follows. */
  #enter(closers: number[], limit: number): boolean {
    const byte = this.#peek()
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) {
      this.#skipScalar(limit)
      return false
    }
    if (closers.length >= MAX_JSON_DEPTH) this.#fail(`at most ${MAX_JSON_DEPTH} levels`)
    this.#at++
    const closer = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
    closers.push(closer)
    if (this.#peek() === closer) return false
    if (closer === CLOSE_OBJECT) this.#skipKey(limit)
    return true
  }

  /** Behind a value: closes what ends with it, or goes on to the next one; true when a value follows. */
  #leave(closers: number[], limit: number): boolean {
    const closer = closers.at(-1)
    if (this.#peek() === closer) {
      this.#at++
      closers.pop()
      return false
    }
    this.#take(COMMA, 'a comma or the end of a list')
    if (closer === CLOSE_OBJECT) this.#skipKey(limit)
    return true
  }

  #skipKey(limit: number): void {
    this.#skipString(limit)
    this.#take(COLON, 'a colon')
  }

  #skipString(limit: number): void {
    this.#take(QUOTE, 'a string')
    if (!this.#passContent(limit)) throw new JsonTooLongError('a value is too long')
  }

  #skipScalar(limit: number): void {
    const kind = this.kind()
    if (kind === 'string') this.#skipString(limit)
    else if (kind === 'number') this.number()
    else if (kind === 'boolean') this.boolean()
    else this.null()
  }

  /** Passes a string's content and its closing quote; false when `limit` came first. */
  #passContent(limit: number): boolean {
    const bytes = this.#bytes
    let at = this.#at
    while (at < limit) {
      const byte = bytes[at] ?? -1
      if (byte === QUOTE) {
        this.#at = at + 1
        return true
      }
      if (byte < 0x20) {
        this.#at = at
        this.#fail(byte === -1 ? 'the end of a string' : 'a string without control characters')
      }
      if (byte >= 0x80) this.#plain = false
      if (byte === BACKSLASH) {
        this.#plain = false
        at += this.#escapeBytes(at)
      } else at++
    }
    this.#at = at
    return false
  }

  /** Length of the escape at a backslash. */
  #escapeBytes(at: number): number {
    const byte = this.#bytes[at + 1] ?? -1
    if (byte === 0x75 && [2, 3, 4, 5].every((offset) => HEX_BYTES.has(this.#bytes[at + offset]))) return 6
    if (ESCAPED.has(byte)) return 2
    this.#at = at
    return this.#fail('a string with valid escapes')
  }

  /** The next byte that is no white space; -1 at the end. */
  #peek(): number {
    const limit = this.#at + MAX_WHITE_SPACE_BYTES
    for (;;) {
      const byte = this.#bytes[this.#at]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte ?? -1
      this.#at++
      if (this.#at > limit) throw new JsonTooLongError('too much white space')
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

/** The characters that may stand behind a backslash, other than `u` with four digits: `" \\ / b f n r t`. */
const ESCAPED = bytesOf('"\\/bfnrt')
const HEX_BYTES = bytesOf('0123456789abcdefABCDEF')
const NUMBER_BYTES = bytesOf('0123456789+-.eE')

function bytesOf(characters: string): ReadonlySet<number | undefined> {
  return new Set(new TextEncoder().encode(characters))
}

/** Short texts without the fixed cost of a decoder's call. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 256) return decoder.decode(bytes.subarray(start, end))
  return String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[])
}
