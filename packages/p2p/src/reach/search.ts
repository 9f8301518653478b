/** Looking for a connection that nobody waits for: when to dial, what to do when it fails, when to give up. */
import { backoffMs } from '@mesh/core/limits'
import {
  BOOTSTRAP_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MIN_MS,
  DIAL_TIMEOUT_MS,
  MAX_DIAL_FAILURES,
  MEMBER_BACKOFF_MAX_MS,
  RELAY_STAGGER_MS,
  SPECULATIVE_SPREAD_MS,
} from './limits.ts'
import { change, type Draft, drawFrom, startDial } from './draft.ts'
import { isConnected, isSearching, type PeerAddress, type PeerKind, type Route } from './peer-state.ts'

const LONGEST_BACKOFF_MS = {
  configured: BOOTSTRAP_BACKOFF_MAX_MS,
  member: MEMBER_BACKOFF_MAX_MS,
  found: DIAL_BACKOFF_MAX_MS,
} as const

/** A member that went is looked for longer than one that was only heard of. */
const MAX_FAILURES = {
  configured: Number.POSITIVE_INFINITY,
  member: 4 * MAX_DIAL_FAILURES,
  found: MAX_DIAL_FAILURES,
} as const

/** The plan lets the peer be dialled. */
export function onGrantedDial(draft: Draft, usable: readonly PeerAddress[]): void {
  const { search } = draft.state
  if (search === undefined || isConnected(draft.state)) return
  const direct = usable.filter(({ relay }) => relay === undefined)
  const hasRelay = direct.length < usable.length
  const headStart = direct.length > 0 ? RELAY_STAGGER_MS : 0
  const relayFrom = hasRelay ? draft.now + headStart + drawSpread(draft) : undefined
  change(draft, {
    search: { ...search, triedAt: draft.now, relayFrom, needsRelay: hasRelay && direct.length === 0 },
  })
  if (direct.length > 0) startDial(draft, 'direct', { purposes: ['search'], addresses: direct })
  else if (!hasRelay) fail(draft, 'no address that this node can dial')
}

/** All nodes hear of the same peers at once, in the same order; what a person configured does not wait for that. */
function drawSpread(draft: Draft): number {
  return draft.state.configured ? 0 : drawFrom(draft) * SPECULATIVE_SPREAD_MS
}

/** The plan lets the peer be dialled over a relay. */
export function onGrantedRelay(draft: Draft, usable: readonly PeerAddress[]): void {
  const { search, dials } = draft.state
  if (search === undefined || isConnected(draft.state)) return
  const relayed = usable.filter(({ relay }) => relay !== undefined)
  const direct = usable.filter(({ relay }) => relay === undefined)
  const waitedLong = draft.now - (search.triedAt ?? draft.now) > DIAL_TIMEOUT_MS
  change(draft, { search: { ...search, triedAt: draft.now, relayFrom: undefined, needsRelay: false } })
  if (waitedLong && direct.length > 0 && dials.direct === undefined) {
    startDial(draft, 'direct', { purposes: ['search'], addresses: direct })
  }
  if (relayed.length > 0) startDial(draft, 'relay', { purposes: ['search'], addresses: relayed })
  else if (!isSearching(draft.state)) fail(draft, 'no address that this node can dial')
}

/** A dial of the search ended without a connection. */
export function onSearchDialFailed(draft: Draft, route: Route, error: string): void {
  const { search } = draft.state
  if (search === undefined || isConnected(draft.state) || isSearching(draft.state)) return
  if (route === 'direct' && search.relayFrom !== undefined) {
    const relayFrom = Math.min(search.relayFrom, draft.now + drawSpread(draft))
    change(draft, { search: { ...search, relayFrom, needsRelay: true }, lastError: error })
  } else fail(draft, error)
}

/** Connections close as soon as they stand: the peer wants none, or cannot keep one. Backs off. */
export function waitAfterBriefs(draft: Draft): void {
  const { search, briefs } = draft.state
  if (search === undefined || briefs < 2) return
  const due = Math.max(search.due, draft.now + delayMs(draft, search.kind, briefs - 1))
  change(draft, { search: { ...search, due }, lastError: `${briefs} connections in a row closed at once` })
}

function delayMs(draft: Draft, kind: PeerKind, failures: number): number {
  const bounds = { leastMs: DIAL_BACKOFF_MIN_MS, mostMs: LONGEST_BACKOFF_MS[kind] }
  return backoffMs(bounds, failures - 1, 0.5 + drawFrom(draft))
}

function fail(draft: Draft, error: string): void {
  const { search } = draft.state
  if (search === undefined) return
  const failures = search.failures + 1
  const wait = delayMs(draft, search.kind, failures)
  const next = { ...search, failures, due: draft.now + wait, relayFrom: undefined, needsRelay: false }
  change(draft, { lastError: error, search: failures >= MAX_FAILURES[search.kind] ? undefined : next })
  draft.effects.push({ type: 'searchFailed', failures, error })
}

/** Connected: nothing to do until somebody finds it again; a configured peer is watched. */
export function onSearchDone(draft: Draft): void {
  const { search } = draft.state
  if (search === undefined) return
  if (search.kind !== 'configured') return change(draft, { search: undefined })
  const due = draft.now + BOOTSTRAP_BACKOFF_MAX_MS
  change(draft, { search: { ...search, failures: 0, due, relayFrom: undefined, needsRelay: false } })
}
