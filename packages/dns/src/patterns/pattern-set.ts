/**
 * The patterns of a ledger, so that thousands cost a question little more than one. Whole names stand in a map. Of the others
 * the set tries only those whose required text occurs in the name; three characters of it find them. It compiles a
 * pattern when the first name needs it.
 */
import {
  MAX_PATTERN_STEPS,
  type Pattern,
  type PatternShape,
  readPatternShape,
  tryParsePattern,
} from '@mesh/core/pattern'
import { LRUCache } from 'lru-cache'
import { MAX_COMPILED_STEPS, MAX_PATTERNS } from '../limits.ts'

/** One pattern and who wrote it. */
export interface PatternEntry {
  readonly source: string
  readonly owner: string
  /** Texts of its records by type. */
  readonly records: ReadonlyMap<number, string>
}

/** Why a pattern is never tried. */
type PatternFault = 'bad_syntax' | 'too_complex'

interface KnownPattern {
  readonly shape: PatternShape
  /** Compiles at the first call. @param name in lower case, with a trailing dot */
  matches(name: string): boolean
  fault(): PatternFault | undefined
}

export function createPatternLibrary() {
  const known = new Map<string, KnownPattern>()
  const compiled: Compiled = new LRUCache({ max: MAX_PATTERNS, maxSize: MAX_COMPILED_STEPS })
  return {
    get(source: string): KnownPattern {
      let pattern = known.get(source)
      if (pattern === undefined) {
        pattern = createPattern(source, compiled)
        known.set(source, pattern)
      }
      return pattern
    },
    /** Forgets what is not among these. */
    keep(sources: ReadonlySet<string>) {
      for (const source of known.keys()) {
        if (sources.has(source)) continue
        known.delete(source)
        compiled.delete(source)
      }
    },
  }
}

/** Compiled patterns outlive the sets that use them: most stay as the ledger changes. */
export type PatternLibrary = ReturnType<typeof createPatternLibrary>

/** Those that are compiled by now, by source. */
type Compiled = LRUCache<string, Pattern>

function createPattern(source: string, compiled: Compiled): KnownPattern {
  const shape = readPatternShape(source)
  const isTooComplex = shape.steps > MAX_PATTERN_STEPS
  let isBad = false
  const compile = () => {
    let pattern = compiled.get(source)
    if (pattern !== undefined || isTooComplex || isBad) return pattern
    pattern = tryParsePattern(source, { ignoreCase: true })
    if (pattern === undefined) isBad = true
    else compiled.set(source, pattern, { size: shape.steps + 1 })
    return pattern
  }
  return {
    shape,
    matches: (name) => (shape.exact === undefined ? compile()?.test(name) === true : shape.exact === name),
    fault() {
      if (isTooComplex) return 'too_complex'
      return shape.exact === undefined && compile() === undefined ? 'bad_syntax' : undefined
    },
  }
}

export interface Candidate {
  readonly entry: PatternEntry
  readonly pattern: KnownPattern
  /** Its place among all patterns, the strongest first. */
  readonly rank: number
}

export function createPatternSet(entries: readonly PatternEntry[], library: PatternLibrary) {
  const exact = new Map<string, Candidate[]>()
  const byTrigram = new Map<string, Candidate[]>()
  /** The patterns without a text of three characters that could tell. */
  const always: Candidate[] = []
  const known = entries.map((entry) => ({ entry, pattern: library.get(entry.source) }))
  for (const [rank, { entry, pattern }] of known.sort(byStrength).entries()) {
    const candidate = { entry, pattern, rank }
    if (pattern.shape.exact !== undefined) push(exact, pattern.shape.exact, candidate)
    else if (pattern.shape.required.length < 3) always.push(candidate)
    else push(byTrigram, rarestTrigram(pattern.shape.required, byTrigram), candidate)
  }
  return {
    size: entries.length,
    /** Those that may match the name, the strongest first; all that do match are among them. */
    candidates(name: string): readonly Candidate[] {
      const found = [...(exact.get(name) ?? [])]
      for (const candidate of always)
        if (name.includes(candidate.pattern.shape.required)) found.push(candidate)
      for (const trigram of trigramsOf(name)) {
        for (const candidate of byTrigram.get(trigram) ?? []) {
          if (name.includes(candidate.pattern.shape.required)) found.push(candidate)
        }
      }
      return found.length > 1 ? found.sort((a, b) => a.rank - b.rank) : found
    },
  }
}

export type PatternSet = ReturnType<typeof createPatternSet>

/**
 * Which of two patterns that match a name wins: a whole name before all else, then the longer pattern, then the one
 * that sorts first. Every node comes to the same, whatever order it heard of them in.
 */
function byStrength(a: Omit<Candidate, 'rank'>, b: Omit<Candidate, 'rank'>): number {
  const [first, second] = [a.entry.source, b.entry.source]
  const exact = Number(b.pattern.shape.exact !== undefined) - Number(a.pattern.shape.exact !== undefined)
  return exact || second.length - first.length || (first < second ? -1 : 1)
}

/** The least used so far, so that what all patterns have in common (`mesh`) points to few. */
function rarestTrigram(text: string, used: ReadonlyMap<string, readonly unknown[]>): string {
  let rarest = text.slice(0, 3)
  for (const trigram of trigramsOf(text)) {
    const count = used.get(trigram)?.length ?? 0
    if (count === 0) return trigram
    if (count < (used.get(rarest)?.length ?? 0)) rarest = trigram
  }
  return rarest
}

function trigramsOf(text: string): ReadonlySet<string> {
  const trigrams = new Set<string>()
  for (let at = 0; at + 3 <= text.length; at++) trigrams.add(text.slice(at, at + 3))
  return trigrams
}

function push(map: Map<string, Candidate[]>, key: string, candidate: Candidate): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [candidate])
  else list.push(candidate)
}
