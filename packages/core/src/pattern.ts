/**
 * Patterns that other members wrote, matched in linear time: they never reach JavaScript's RegExp, which one
 * pattern could hang. Syntax is RE2's (no look-around, no back-references); a match may lie anywhere in the text.
 * Apart from the index, so that whoever matches no patterns need not load the 150 kB that do it.
 */
import { RE2JS } from 're2js'
import { readPatternShape } from './pattern-shape.ts'

export { type PatternShape, readPatternShape } from './pattern-shape.ts'

/** Longer patterns are refused; names that DNS allows have at most 255 bytes. */
export const MAX_PATTERN_LENGTH = 1024
/** How many steps a compiled pattern of others may have: 30 ms at most to compile, and 10 ms for the longest name. */
export const MAX_PATTERN_STEPS = 2_000

export interface Pattern {
  readonly source: string
  /** True when any part of `text` matches. */
  test(text: string): boolean
}

export interface PatternOptions {
  /** Letters match in either case. */
  readonly ignoreCase?: boolean
}

/** Undefined when the text is too long or no RE2 expression. */
export function tryParsePattern(
  source: string,
  { ignoreCase = false }: PatternOptions = {},
): Pattern | undefined {
  if (source.length > MAX_PATTERN_LENGTH) return undefined
  try {
    const compiled = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    // its `test` keeps up to 8 MiB of states for each pattern; who asks where the match lies gets no automaton
    return { source, test: (text) => compiled.matcher(text).find() }
  } catch {
    return undefined
  }
}

/**
 * Says why nobody matches names with the pattern; undefined: it is used. One with more than `MAX_PATTERN_STEPS` is
 * `too_complex`, and is not compiled.
 */
export function patternFault(source: string): 'too_complex' | 'bad_syntax' | undefined {
  if (source.length > MAX_PATTERN_LENGTH) return 'bad_syntax'
  if (readPatternShape(source).steps > MAX_PATTERN_STEPS) return 'too_complex'
  return tryParsePattern(source) === undefined ? 'bad_syntax' : undefined
}
