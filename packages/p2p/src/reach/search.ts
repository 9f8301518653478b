/** Looking for a connection that nobody waits for: when to dial, what to do when it fails, when to give up. */
import {
  BOOTSTRAP_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MIN_MS,
  DIAL_TIMEOUT_MS,
  GREATER_ID_WAITS_MS,
  MAX_DIAL_FAILURES,
  MAX_PEER_ADDRESSES,
  MEMBER_BACKOFF_MAX_MS,
  RELAY_STAGGER_MS,
  SPECULATIVE_SPREAD_MS,
} from '../limits.ts'
import { onDemandNews } from './demand.ts'
import { change, type Draft, drawFrom, startDial } from './draft.ts'
import {
  isConnected,
  isSearching,
  type PeerAddress,
  type PeerInput,
  type PeerKind,
  type Route,
  type Search,
} from './peer-state.ts'

/** Who is dialled first. */
export const RANK = { configured: 0, member: 1, found: 2 } as const

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

/** Ways of discovery kept for one peer, for people. */
const MAX_SOURCES = 4

export function onFound(draft: Draft, input: Extract<PeerInput, { type: 'found' }>): void {
  const { state } = draft
  const { kind, addresses, source } = input
  const known = new Set(state.addresses.map(({ text }) => text))
  const news = addresses.filter(({ text }) => !known.has(text))
  const isNews = news.some(({ relay }) => relay === undefined)
  change(draft, {
    addresses: merge(state.addresses, addresses),
    sources:
      source === undefined ? state.sources : [...new Set([...state.sources, source])].slice(0, MAX_SOURCES),
    configured: state.configured || kind === 'configured',
  })
  onDemandNews(draft, news)
  if (state.search !== undefined) change(draft, { search: hurried(draft, state.search, { kind, isNews }) })
  else if (!isConnected(state) || kind === 'configured') change(draft, { search: begin(draft, kind) })
}

function begin({ state, now }: Draft, kind: PeerKind): Search {
  const wait = kind === 'configured' || state.dialsFirst ? 0 : GREATER_ID_WAITS_MS
  return { kind, failures: 0, due: now + wait, triedAt: undefined, relayFrom: undefined, needsRelay: false }
}

/** News of a peer is a reason to look soon. */
function hurried(
  { state, now }: Draft,
  search: Search,
  news: { readonly kind: PeerKind; readonly isNews: boolean },
): Search {
  const kind = RANK[news.kind] < RANK[search.kind] ? news.kind : search.kind
  if (isSearching(state)) return { ...search, kind }
  if (search.needsRelay && !news.isNews) return { ...search, kind }
  const due = Math.min(search.due, now + DIAL_BACKOFF_MIN_MS)
  return { ...search, kind, due, needsRelay: false, relayFrom: undefined }
}

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

function fail(draft: Draft, error: string): void {
  const { search } = draft.state
  if (search === undefined) return
  const failures = search.failures + 1
  const wait =
    Math.min(LONGEST_BACKOFF_MS[search.kind], DIAL_BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 30)) *
    (0.75 + drawFrom(draft) / 2)
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

/** Newest first, without repeats. */
function merge(old: readonly PeerAddress[], news: readonly PeerAddress[]): readonly PeerAddress[] {
  const all = new Map<string, PeerAddress>()
  for (const address of [...news, ...old]) if (!all.has(address.text)) all.set(address.text, address)
  return [...all.values()].slice(0, MAX_PEER_ADDRESSES)
}
