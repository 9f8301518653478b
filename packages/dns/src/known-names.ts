/**
 * The names of this network as the ledger has them now. A question after a change builds zone and patterns again, for a
 * quarter of the time at most. So does a heartbeat that runs out. While a large zone is built over several turns of the
 * event loop, the earlier names answer.
 */
import { BUCKETS, type Clock, Heap } from '@mesh/core'
import { type LoopBudget, loopBudget } from '@mesh/core/limits'
import { createOwners, type Ledger, type LedgerEvent, type Owners } from '@mesh/ledger'
import {
  MAX_PATTERNS,
  MAX_REBUILD_DELAY_MS,
  REBUILD_DELAY_MS,
  REBUILD_TIME_SHARE,
  STEP_ENTRIES,
  STEP_PATTERN_CHARS,
} from './limits.ts'
import { createPatternMatcher, type NameMatches } from './patterns/pattern-matcher.ts'
import {
  createPatternLibrary,
  createPatternSet,
  type PatternEntry,
  type PatternLibrary,
} from './patterns/pattern-set.ts'
import { type NamesInput, type Zone, zoneSteps } from './zone/build-zone.ts'
import { readRecords } from './zone/read-entries.ts'

export type NamesLedger = Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'subscribe'>

export type NamesInit = Pick<NamesInput, 'zone' | 'hostRanges' | 'ownRanges' | 'livenessMs'>

export interface Names {
  readonly zone: Zone
  /** Patterns that count, and those beyond the bound. */
  readonly patterns: { readonly used: number; readonly ignored: number }
  readonly match: (name: string) => NameMatches | undefined
}

export interface KnownNamesComponents {
  readonly ledger: NamesLedger
  readonly clock: Clock
}

export function createKnownNames(init: NamesInit, components: KnownNamesComponents) {
  const { ledger, clock } = components
  const budget = loopBudget(clock)
  const library = createPatternLibrary()
  let names: Names | undefined
  let owners: Owners | undefined
  let isDirty = true
  let isBuilding = false
  let endBuild = () => {}
  /** Whose heartbeats came while names were built. */
  const beats = new Set<string>()
  let expiresAt = Number.POSITIVE_INFINITY
  /** The time in ms of the monotonic clock: a clock that is set back must not keep old names. */
  let notBefore = 0
  const unsubscribe = ledger.subscribe((event) => {
    if (isBuilding) for (const owner of heartbeatsIn(event)) beats.add(owner)
    if (isDirty || !concernsNames(event, owners)) return
    isDirty = true
    notBefore = Math.max(notBefore, clock.monotonic() + REBUILD_DELAY_MS)
  })
  const build = (now: number) => {
    const begunAt = clock.monotonic()
    const input: NamesInput = {
      ...init,
      snapshot: ledger.snapshot(),
      mode: ledger.mode,
      self: ledger.self,
      now,
    }
    const known = createOwners(input)
    isBuilding = true
    isDirty = false
    beats.clear()
    endBuild = budget.walk('background', namesSteps(input, known, { library, budget }), (built) => {
      isBuilding = false
      names = built
      owners = known
      isDirty ||= !beats.isDisjointFrom(known.silent)
      expiresAt = known.expiresAt() ?? Number.POSITIVE_INFINITY
      const endedAt = clock.monotonic()
      const restMs = (endedAt - begunAt) * (REBUILD_TIME_SHARE - 1)
      notBefore = Math.max(notBefore, endedAt + Math.min(MAX_REBUILD_DELAY_MS, restMs))
    })
  }
  return {
    /** Gives what is known now: one object until what it says may have changed. Undefined while the first names are built. */
    current(): Names | undefined {
      const now = clock.now()
      const isDue = names === undefined || isDirty || now >= expiresAt
      if (isDue && !isBuilding && clock.monotonic() >= notBefore) build(now)
      return names
    },
    stop() {
      unsubscribe()
      endBuild()
    },
  }
}

export type KnownNames = ReturnType<typeof createKnownNames>

interface PatternParts {
  readonly library: PatternLibrary
  readonly budget: LoopBudget
}

function* namesSteps(
  input: NamesInput,
  owners: Owners,
  { library, budget }: PatternParts,
): Generator<void, Names> {
  const zone = yield* zoneSteps(input, owners)
  const { used, ignored } = yield* readPatterns(input, owners)
  library.keep(new Set(used.map(({ source }) => source)))
  let length = 0
  for (const { source } of used) {
    library.get(source)
    length += source.length
    if (length < STEP_PATTERN_CHARS) continue
    length = 0
    yield
  }
  const matcher = createPatternMatcher(createPatternSet(used, library), budget)
  return {
    zone,
    patterns: { used: used.length, ignored },
    match: (name) => matcher.find(name),
  }
}

function heartbeatsIn(event: LedgerEvent): readonly string[] {
  if (event.type !== 'committed') return []
  return event.changes.flatMap(({ bucket, key }) => (bucket === BUCKETS.healthcheck ? [key] : []))
}

/** The buckets of which names are made. */
const NAMED: readonly string[] = [BUCKETS.machines, BUCKETS.services, BUCKETS.providers, BUCKETS.dns]

/** A heartbeat of somebody who is alive anyway changes nothing. */
function concernsNames(event: LedgerEvent, owners: Owners | undefined): boolean {
  if (event.type === 'admission') return true
  if (event.type !== 'committed') return false
  return event.changes.some(({ bucket, key, entry }) => {
    if (bucket === BUCKETS.healthcheck) return entry.deleted || owners?.silent.has(key) === true
    return NAMED.includes(bucket)
  })
}

interface DatedPattern {
  readonly version: bigint
  readonly entry: PatternEntry
}

interface Patterns {
  readonly used: readonly PatternEntry[]
  /** How many there are beside those. */
  readonly ignored: number
}

/** The entries of live owners; where there are too many, the oldest of them. */
function* readPatterns({ snapshot }: NamesInput, owners: Owners): Generator<void, Patterns> {
  /** The newest first, which make way for older ones. */
  const found = new Heap<DatedPattern>((a, b) => a.version > b.version)
  let [seen, ignored] = [0, 0]
  for (const { key, entry } of snapshot.entries(BUCKETS.dns)) {
    if (++seen % STEP_ENTRIES === 0) yield
    if (entry.deleted || !owners.isLive(entry.owner)) continue
    const records = readRecords(entry)
    if (records === undefined) continue
    found.push({ version: entry.version, entry: { source: key, owner: entry.owner, records } })
    if (found.size <= MAX_PATTERNS) continue
    found.pop()
    ignored++
  }
  const used: PatternEntry[] = []
  for (let next = found.pop(); next !== undefined; next = found.pop()) used.push(next.entry)
  return { used, ignored }
}
