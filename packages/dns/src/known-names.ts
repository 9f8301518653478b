/**
 * The names of this network as the ledger says now: zone and patterns are built anew when a question comes after a
 * change, several changes at once and for a quarter of the time at most, and when an owner's heartbeat runs out.
 */
import { BUCKETS, type Clock, type LoopTurns } from '@mesh/core'
import type { Ledger, LedgerEvent, Owners } from '@mesh/ledger'
import { MAX_PATTERNS, MAX_REBUILD_DELAY_MS, REBUILD_DELAY_MS, REBUILD_TIME_SHARE } from './limits.ts'
import { createPatternMatcher, type NameMatches } from './patterns/pattern-matcher.ts'
import { createPatternLibrary, createPatternSet, type PatternEntry } from './patterns/pattern-set.ts'
import { buildZone, createZoneOwners, type Zone } from './zone/build-zone.ts'
import type { NamesInput } from './zone/names-input.ts'
import { readRecords } from './zone/read-entries.ts'

export type NamesLedger = Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'subscribe'>

export type NamesInit = Pick<NamesInput, 'zone' | 'hostRanges' | 'ownRanges' | 'livenessMs'>

export interface Names {
  readonly zone: Zone
  /** Patterns that count, and those beyond the bound. */
  readonly patterns: { readonly used: number; readonly ignored: number }
  readonly match: (name: string) => NameMatches | undefined
}

export interface KnownNames {
  /** Gives what is known now: one object until what it says may have changed. */
  current(): Names
  stop(): void
}

export interface KnownNamesComponents {
  readonly ledger: NamesLedger
  readonly clock: Clock
  /** The time of patterns in one turn of the event loop. */
  readonly turns: LoopTurns
}

export function createKnownNames(init: NamesInit, components: KnownNamesComponents): KnownNames {
  const { ledger, clock, turns } = components
  const library = createPatternLibrary()
  let names: Names | undefined
  let owners: Owners | undefined
  let isDirty = true
  let expiresAt = Number.POSITIVE_INFINITY
  /** The time in ms of the monotonic clock: a clock that is set back must not keep old names. */
  let notBefore = 0
  const unsubscribe = ledger.subscribe((event) => {
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
    owners = createZoneOwners(input)
    const zone = buildZone(input, owners)
    const entries = readPatterns(input, owners)
    library.keep(new Set(entries.used.map(({ source }) => source)))
    const matcher = createPatternMatcher(createPatternSet(entries.used, library), turns)
    expiresAt = owners.expiresAt() ?? Number.POSITIVE_INFINITY
    isDirty = false
    const costMs = clock.monotonic() - begunAt
    notBefore = begunAt + Math.min(MAX_REBUILD_DELAY_MS, costMs * REBUILD_TIME_SHARE)
    return {
      zone,
      patterns: { used: entries.used.length, ignored: entries.ignored },
      match: (name: string) => matcher.find(name),
    }
  }
  return {
    current() {
      const now = clock.now()
      if (names === undefined || ((isDirty || now >= expiresAt) && clock.monotonic() >= notBefore))
        names = build(now)
      return names
    },
    stop: unsubscribe,
  }
}

/** A heartbeat of somebody who is alive anyway changes nothing. */
function concernsNames(event: LedgerEvent, owners: Owners | undefined): boolean {
  if (event.type === 'admission') return true
  if (event.type !== 'committed') return false
  return event.changes.some(({ bucket, key, entry }) => {
    if (bucket === BUCKETS.healthcheck) return entry.deleted || owners?.silent.has(key) === true
    return bucket === BUCKETS.machines || bucket === BUCKETS.services || bucket === BUCKETS.dns
  })
}

/** The entries of live owners; where there are too many, the oldest of them. */
function readPatterns({ snapshot }: NamesInput, owners: Owners) {
  const found: { readonly version: bigint; readonly entry: PatternEntry }[] = []
  for (const { key, entry } of snapshot.entries(BUCKETS.dns)) {
    if (entry.deleted || !owners.isLive(entry.owner)) continue
    const records = readRecords(entry)
    if (records === undefined) continue
    found.push({ version: entry.version, entry: { source: key, owner: entry.owner, records } })
  }
  if (found.length > MAX_PATTERNS) found.sort((a, b) => (a.version < b.version ? -1 : 1))
  const used = found.slice(0, MAX_PATTERNS).map(({ entry }) => entry)
  return { used, ignored: found.length - used.length }
}
