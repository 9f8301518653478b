/**
 * Reads from a regular expression what shows without compiling it: the one name that it is, or a text that every match must
 * hold. Counts the steps that it compiles to. Reads RE2's syntax. What it does not know gives no hint, which costs time
 * and never changes an answer.
 */

export interface PatternShape {
  /** The pattern matches exactly this name, in lower case. */
  readonly exact: string | undefined
  /** Every match holds this text, in lower case; '' when nothing is known. */
  readonly required: string
  /** The number of steps to which it compiles, or more. */
  readonly steps: number
}

export function readPatternShape(source: string): PatternShape {
  const reader = new ShapeReader(source)
  const parsed = reader.readAlternatives()
  if (parsed === undefined || !reader.isAtEnd)
    return { exact: undefined, required: '', steps: roughSteps(source) }
  const { pieces, steps } = parsed
  const required = longestRun(pieces)
  const [begin, body, end] = pieces
  const isExact = pieces.length === 3 && begin === BEGIN && end === END && isText(body) && !reader.hasFlags
  return { exact: isExact ? body : undefined, required, steps }
}

/** A text, the name's begin or end, or something else that holds `required`. */
type Piece = string | typeof BEGIN | typeof END | { readonly required: string }
const BEGIN = Symbol('begin')
const END = Symbol('end')

interface Parsed {
  readonly pieces: readonly Piece[]
  readonly steps: number
}

const isText = (piece: Piece | undefined): piece is string => typeof piece === 'string'
const UNKNOWN: Piece = { required: '' }
/** Deeper ones are not worth reading. */
const MAX_DEPTH = 50

class ShapeReader {
  hasFlags = false
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  get isAtEnd(): boolean {
    return this.#at === this.#source.length
  }

  readAlternatives(): Parsed | undefined {
    const alternatives: Parsed[] = []
    do {
      const one = this.#readSequence()
      if (one === undefined) return undefined
      alternatives.push(one)
    } while (this.#take('|'))
    const steps = alternatives.reduce((sum, one) => sum + one.steps + 1, 0)
    const [only] = alternatives
    return alternatives.length === 1 && only !== undefined ? { ...only, steps } : { pieces: [UNKNOWN], steps }
  }

  #readSequence(): Parsed | undefined {
    const pieces: Piece[] = []
    let steps = 0
    while (!this.isAtEnd && this.#next !== '|' && this.#next !== ')') {
      const atom = this.#readAtom()
      const repeated = atom && this.#readRepeats(atom)
      if (repeated === undefined) return undefined
      steps += repeated.steps
      append(pieces, repeated.pieces)
    }
    return { pieces, steps }
  }

  get #next(): string {
    return this.#source[this.#at] ?? ''
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #readAtom(): Parsed | undefined {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
    switch (character) {
      case '(':
        return this.#readGroup()
      case '[':
        return this.#readClass()
      case '\\':
        return this.#readEscape()
      case '*':
      case '+':
      case '?':
        return undefined
    }
    this.#at += character.length
    if (character === '^') return single(BEGIN)
    if (character === '$') return single(END)
    return single(character === '.' ? UNKNOWN : literal(character))
  }

  #readGroup(): Parsed | undefined {
    const open = /\((?:\?(?:P?<\w+>|(?<flags>[imsU-]*)(?<end>[:)])))?/y
    open.lastIndex = this.#at
    const found = open.exec(this.#source)
    if (found === null || this.#depth >= MAX_DEPTH) return undefined
    if (found[0] === '(' && this.#source[this.#at + 1] === '?') return undefined
    this.#at = open.lastIndex
    if ((found.groups?.['flags'] ?? '') !== '') this.hasFlags = true
    if (found.groups?.['end'] === ')') return { pieces: [], steps: 0 }
    this.#depth++
    const inner = this.readAlternatives()
    this.#depth--
    if (inner === undefined || !this.#take(')')) return undefined
    return { pieces: inner.pieces, steps: inner.steps + 2 }
  }

  /** `[.]` is a text, as people write it; other classes only have their end found. */
  #readClass(): Parsed | undefined {
    const whole = /\[\^?\]?(?:\[:\^?\w+:\]|\\[^QE]|[^\]\\])*\]/sy
    whole.lastIndex = this.#at
    const found = whole.exec(this.#source)
    if (found === null) return undefined
    this.#at = whole.lastIndex
    const [text] = found
    const character = /^\[([^\\[\]^])\]$/.exec(text)?.[1]
    if (character !== undefined) return single(literal(character))
    return { pieces: [UNKNOWN], steps: 2 + classSteps(text) }
  }

  #readEscape(): Parsed | undefined {
    const character = this.#source[this.#at + 1] ?? ''
    const property = /\\[pP](?:\w|\{\^?\w+\})/y
    property.lastIndex = this.#at
    const found = property.exec(this.#source)
    this.#at += found === null ? 2 : found[0].length
    if (found !== null) return { pieces: [UNKNOWN], steps: 2 + CATEGORY_STEPS }
    if (character !== '' && 'dDwWsSbB'.includes(character)) return single(UNKNOWN)
    if (character === 'A') return single(BEGIN)
    if (character === 'z') return single(END)
    return /^[!-/:-@[-`{-~]$/.test(character) ? single(character) : undefined
  }

  /** `*`, `+`, `?` and `{n,m}`, lazy or not; `{` that begins no count is a text. */
  #readRepeats(atom: Parsed): Parsed | undefined {
    let repeated = atom
    const repeat = /(?:[*+?]|\{(\d{1,5})(?:(,)(\d{0,5}))?\})\??/y
    for (;;) {
      repeat.lastIndex = this.#at
      const found = repeat.exec(this.#source)
      if (found === null) return repeated
      // after flags, `*` counts for what stood before them
      if (atom.pieces.length === 0) return undefined
      this.#at = repeat.lastIndex
      const [text, least, comma, most] = found
      const min = text.startsWith('+') ? 1 : Number(least ?? 0)
      const times = Math.max(1, min, Number(comma === undefined ? 0 : (most ?? 0)))
      const required = min > 0 ? longestRun(repeated.pieces) : ''
      repeated = { pieces: [{ required }], steps: repeated.steps * times + times + 1 }
    }
  }
}

function single(piece: Piece): Parsed {
  return { pieces: [piece], steps: 2 }
}

/** A letter beyond ASCII, such as the Kelvin sign, may match one of ASCII when case does not count. */
function literal(character: string): Piece {
  return character <= '\u007f' ? character.toLowerCase() : UNKNOWN
}

/** Texts beside each other are one. */
function append(pieces: Piece[], more: readonly Piece[]): void {
  for (const piece of more) {
    const last = pieces.at(-1)
    if (isText(last) && isText(piece)) pieces[pieces.length - 1] = last + piece
    else pieces.push(piece)
  }
}

function longestRun(pieces: readonly Piece[]): string {
  let longest = ''
  for (const piece of pieces) {
    const text = isText(piece) ? piece : typeof piece === 'object' ? piece.required : ''
    if (text.length > longest.length) longest = text
  }
  return longest
}

/** The cost of compiling a category of Unicode such as `\pL`, in steps: it has hundreds of ranges. */
const CATEGORY_STEPS = 50
/** How many characters of a range cost as much to compile as one step: each is looked up in its other case. */
const RANGE_PER_STEP = 128
/** Characters beyond have no other case. */
const LAST_FOLDED = 0x1e943

/** Counts as steps the cost of compiling the ranges and categories of a class. @param text with its brackets */
function classSteps(text: string): number {
  let steps = 0
  for (const [, from, to] of text.matchAll(
    /(\\x\{[0-9a-f]{1,8}\}|\\x[0-9a-f]{2}|\\.|[^\\])-(?=(\\x\{[0-9a-f]{1,8}\}|\\x[0-9a-f]{2}|\\.|[^\\\]]))/gisu,
  ))
    steps += Math.ceil(Math.max(0, endOfRange(to, LAST_FOLDED) - endOfRange(from, 0)) / RANGE_PER_STEP)
  return steps + categoriesIn(text)
}

/** The code point at one end of a range; `unknown` for an escape that is not understood. */
function endOfRange(text = '', unknown: number): number {
  const hex = /^\\x\{?([0-9a-f]+)\}?$/i.exec(text)?.[1]
  if (hex !== undefined) return Math.min(LAST_FOLDED, Number.parseInt(hex, 16))
  if (/^\\[0-9a-z]/i.test(text)) return unknown
  return Math.min(LAST_FOLDED, text.codePointAt(text.startsWith('\\') ? 1 : 0) ?? unknown)
}

function categoriesIn(text: string): number {
  return CATEGORY_STEPS * (text.match(/\\p|\[:/gi)?.length ?? 0)
}

/** The steps of a part that is not understood, counted as if all its repetitions stood inside each other. */
function roughSteps(source: string): number {
  const isWide = /[^\0-\x7f]|\\[x\d]/i.test(source)
  const ranges = source.split('-').length - 1
  let steps = 2 * source.length + 2 + categoriesIn(source)
  if (isWide) steps += Math.ceil((ranges * LAST_FOLDED) / RANGE_PER_STEP)
  for (const [, least, most] of source.matchAll(/\{(\d{1,5})(?:,(\d{0,5}))?\}/g)) {
    steps *= Math.max(1, Number(least), Number(most ?? 0))
  }
  return steps
}
