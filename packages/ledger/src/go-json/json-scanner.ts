/**
 * A pull scanner over the bytes of one JSON text. The caller asks for what it expects next, and skips the rest without
 * building it. Numbers keep their text, because versions do not fit a double. Bad input throws `JsonSyntaxError`, which the
 * decoder counts. A text may come in pieces: the caller then moves the scanner's window before it reads beyond it.
 */
import {
  LOOK_AHEAD_BYTES,
  MAX_JSON_DEPTH,
  MAX_STRING_BYTES,
  MAX_WHITE_SPACE_BYTES,
  SKIP_PAUSE_BYTES,
} from '../limits.ts'
import { TextWindow } from './text-window.ts'

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

/** The token that a value which is being skipped needs next. */
type SkipState = 'value' | 'in string' | 'key' | 'in key' | 'after'

/** Bytes of the longest number: a double has some 20 digits, Go's printers write no more than 330. */
const MAX_NUMBER_BYTES = 1024

/** @param bytes the whole text; undefined for one of which `append` brings all */
export class JsonScanner {
  /** All of the text, or what is there of it. */
  #bytes: Uint8Array
  /** Undefined when all of the text is there. */
  #window: TextWindow | undefined
  /** Where `#bytes` begins in the text. */
  #start = 0
  /** Where the next byte is in `#bytes`. */
  #at = 0
  /** Was the string passed last ASCII without escapes? */
  #plain = true

  constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes ?? new Uint8Array()
    if (bytes === undefined) this.#window = new TextWindow()
  }

  /** Offset of the next byte. */
  get offset(): number {
    return this.#start + this.#at
  }

  /** True when the text goes on and less of it is there than one field or entry of a block may take. */
  get isShort(): boolean {
    return this.#window !== undefined && this.#bytes.length - this.#at < LOOK_AHEAD_BYTES
  }

  /** Brings the next piece of the text, which is copied; undefined: the text has ended. */
  append(piece: Uint8Array | undefined): void {
    if (piece === undefined || this.#window === undefined) {
      this.#window = undefined
      return
    }
    this.#bytes = this.#window.append(piece, this.#at)
    this.#start += this.#at
    this.#at = 0
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
        return isNumberByte(byte) ? 'number' : this.#fail('a value')
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
    while (isNumberByte(this.#bytes[this.#at])) {
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

  /** Goes on at an offset that was given since the last call of `append`. */
  seek(offset: number): void {
    this.#at = offset - this.#start
  }

  /**
   * Skips one value of any kind, checking its form, in one go.
   * @throws JsonTooLongError for one of more than `maxBytes` bytes
   */
  skip(maxBytes: number): void {
    const skipper = new Skipper()
    if (!this.#skipUntil(this.#at + maxBytes, skipper)) throw new JsonTooLongError('a value is too long')
  }

  /**
   * Skips as `skip` does, and yields after every `SKIP_PAUSE_BYTES`, so that other work can have its turn, and more of the
   * text can come.
   */
  *skipping(maxBytes: number): Generator<undefined, void> {
    const skipper = new Skipper()
    const end = this.offset + maxBytes
    while (!this.#skipUntil(Math.min(this.#at + SKIP_PAUSE_BYTES, end - this.#start), skipper)) {
      if (this.offset >= end) throw new JsonTooLongError('a value is too long')
      yield
    }
  }

  /** @throws JsonSyntaxError when more than white space is left */
  end(): void {
    if (this.#peek() !== -1) this.#fail('the end')
  }

  /** Goes on with skipping; true when the value is through, false when `limit` came first. */
  #skipUntil(limit: number, skipper: Skipper): boolean {
    while (this.#at < limit) {
      switch (skipper.state) {
        case 'value':
          skipper.state = this.#enter(skipper)
          break
        case 'key':
          this.#take(QUOTE, 'a string')
          skipper.state = 'in key'
          break
        case 'in string':
        case 'in key':
          if (!this.#passContent(limit)) return false
          if (skipper.state === 'in key') this.#take(COLON, 'a colon')
          skipper.state = skipper.state === 'in key' ? 'value' : 'after'
          break
        case 'after':
          if (!this.#leave(skipper)) return true
      }
    }
    return skipper.state === 'after' && skipper.closers.length === 0
  }

  /** Skips a scalar, or goes into a string, list or object. */
  #enter({ closers }: Skipper): SkipState {
    const byte = this.#peek()
    if (byte === QUOTE) {
      this.#at++
      return 'in string'
    }
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) {
      this.#skipScalar()
      return 'after'
    }
    if (closers.length >= MAX_JSON_DEPTH) this.#fail(`at most ${MAX_JSON_DEPTH} levels`)
    this.#at++
    const closer = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
    closers.push(closer)
    if (this.#peek() === closer) return 'after'
    return byte === OPEN_OBJECT ? 'key' : 'value'
  }

  /** Behind a value: closes what ends with it, or goes on to the next one; false when nothing is open any more. */
  #leave(skipper: Skipper): boolean {
    const closer = skipper.closers.at(-1)
    if (closer === undefined) return false
    if (this.#peek() === closer) {
      this.#at++
      skipper.closers.pop()
      return true
    }
    this.#take(COMMA, 'a comma or the end of a list')
    skipper.state = closer === CLOSE_OBJECT ? 'key' : 'value'
    return true
  }

  #skipScalar(): void {
    switch (this.kind()) {
      case 'number':
        this.number()
        return
      case 'boolean':
        this.boolean()
        return
      case 'null':
        return this.null()
      case 'string':
      case 'object':
      case 'array':
        this.#fail('a scalar')
    }
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
    if (byte === 0x75 && [2, 3, 4, 5].every((offset) => isHexByte(this.#bytes[at + offset]))) return 6
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
    throw new JsonSyntaxError(`expected ${expected} at byte ${this.offset}`)
  }
}

/**
 * The objects and arrays that are open in a value that is skipped: without recursion, so that deep nesting
 * costs memory for its depth only.
 */
class Skipper {
  state: SkipState = 'value'
  readonly closers: number[] = []
}

/** The characters that may stand behind a backslash, other than `u` with four digits: `" \\ / b f n r t`. */
const ESCAPED: ReadonlySet<number> = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

function isHexByte(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66)
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
