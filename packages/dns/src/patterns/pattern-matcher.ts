/** Holds names against the patterns, in slices, and remembers what came of it. */
import type { Clock } from '@mesh/core'
import { LRUCache } from 'lru-cache'
import { COMPILE_SLICE_MS, MAX_MATCHED_NAMES, MAX_NAME_STEPS } from '../limits.ts'
import type { Candidate, PatternSet } from './pattern-set.ts'

export interface PatternMatcher {
  /**
   * The patterns that match, the strongest first. Undefined when the slice of time is over before all were tried:
   * to be asked again after other work.
   */
  find(name: string): NameMatches | undefined
}

export interface NameMatches {
  readonly matches: readonly Candidate[]
  /** Never compiled, or beyond what one name may cost. */
  readonly skipped: readonly (readonly [Candidate, SkipReason])[]
}

export type SkipReason = 'bad_syntax' | 'too_complex' | 'too_many'

interface Search {
  readonly candidates: readonly Candidate[]
  readonly matches: Candidate[]
  readonly skipped: (readonly [Candidate, SkipReason])[]
  next: number
  steps: number
}

export function createPatternMatcher(set: PatternSet, clock: Pick<Clock, 'monotonic'>): PatternMatcher {
  const searches = new LRUCache<string, Search>({ max: MAX_MATCHED_NAMES })
  return {
    find(name) {
      let search = searches.get(name)
      if (search === undefined) {
        search = { candidates: set.candidates(name), matches: [], skipped: [], next: 0, steps: 0 }
        searches.set(name, search)
      }
      if (search.next === search.candidates.length) return search
      const end = clock.monotonic() + COMPILE_SLICE_MS
      while (search.next < search.candidates.length) {
        tryNext(search, name)
        if (clock.monotonic() >= end) break
      }
      return search.next === search.candidates.length ? search : undefined
    },
  }
}

function tryNext(search: Search, name: string): void {
  const candidate = search.candidates[search.next++]
  if (candidate === undefined) return
  const { pattern } = candidate
  const steps = search.steps + pattern.shape.steps
  const isTooMuch = steps > MAX_NAME_STEPS && pattern.shape.exact === undefined
  const reason = isTooMuch ? 'too_many' : pattern.fault()
  if (reason !== undefined) {
    search.skipped.push([candidate, reason])
    return
  }
  search.steps = steps
  if (pattern.matches(name)) search.matches.push(candidate)
}
