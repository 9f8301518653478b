/** Holds names against the patterns, in slices, and remembers what came of it. */
import type { LoopBudget } from '@mesh/core/limits'
import { LRUCache } from 'lru-cache'
import { MAX_MATCHED_NAMES, MAX_NAME_STEPS, MAX_TRIED_CANDIDATES } from '../limits.ts'
import type { Candidate, PatternSet } from './pattern-set.ts'

export interface NameMatches {
  readonly matches: readonly Candidate[]
  /** Never compiled, or beyond what one name may cost. */
  readonly skipped: readonly (readonly [Candidate, SkipReason])[]
}

export type SkipReason = 'bad_syntax' | 'too_complex' | 'too_many'

interface Search {
  /** Those that are still to be tried, from `next` on; empty at the end. */
  candidates: readonly Candidate[]
  readonly matches: Candidate[]
  readonly skipped: (readonly [Candidate, SkipReason])[]
  next: number
  steps: number
}

export function createPatternMatcher(set: PatternSet, budget: LoopBudget) {
  const searches = new LRUCache<string, Search>({ max: MAX_MATCHED_NAMES, maxSize: MAX_TRIED_CANDIDATES })
  return {
    /**
     * The patterns that match, the strongest first. Undefined when the turn has no time left before all were tried: to be
     * asked again in a later one.
     */
    find(name: string): NameMatches | undefined {
      let search = searches.get(name)
      if (search?.candidates.length === 0) return search
      if (!budget.isTimeLeft('members')) return undefined
      if (search === undefined) {
        search = { candidates: set.candidates(name), matches: [], skipped: [], next: 0, steps: 0 }
        searches.set(name, search, { size: 1 + search.candidates.length })
      }
      while (search.next < search.candidates.length) {
        tryNext(search, name)
        if (!budget.isTimeLeft('members')) break
      }
      if (search.next < search.candidates.length) return undefined
      search.candidates = []
      return search
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
