import { backoffMs } from '@mesh/core/limits'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import { DIAL_BACKOFF_MIN_MS, GREATER_ID_WAITS_MS, MENTIONED_BACKOFF_MAX_MS } from './limits.ts'
import { onDemandNews } from './demand.ts'
import { change, type Draft } from './draft.ts'
import {
  isConnected,
  isSearching,
  type PeerAddress,
  type PeerInput,
  type PeerKind,
  type Search,
} from './peer-state.ts'

/** Who is dialled first. */
export const RANK = { configured: 0, member: 1, found: 2 } as const

/** Ways of discovery kept for one peer, for people. */
const MAX_SOURCES = 4
/** Addresses that told of one peer: who tells of all peers first must not have them all in its own queue. */
const MAX_TELLERS = 4

/** Notes whence a peer was told of, or was connected from. */
export function noteTeller(draft: Draft, from: string | undefined): void {
  const { tellers } = draft.state
  if (from === undefined || tellers.at(-1) === from) return
  change(draft, { tellers: [...tellers.filter((teller) => teller !== from), from].slice(-MAX_TELLERS) })
}

export function onFound(draft: Draft, input: Extract<PeerInput, { type: 'found' }>): void {
  const { kind, addresses, source, from } = input
  noteTeller(draft, from)
  const { state } = draft
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

/** News of a peer is a reason to dial soon; that it is told of again is less of one with each failure. */
function hurried(
  { state, now }: Draft,
  search: Search,
  news: { readonly kind: PeerKind; readonly isNews: boolean },
): Search {
  const kind = RANK[news.kind] < RANK[search.kind] ? news.kind : search.kind
  if (isSearching(state)) return { ...search, kind }
  if (search.needsRelay && !news.isNews) return { ...search, kind }
  const bounds = { leastMs: DIAL_BACKOFF_MIN_MS, mostMs: MENTIONED_BACKOFF_MAX_MS }
  const failures = news.isNews ? 0 : Math.max(search.failures, state.briefs - 1) - 1
  const due = Math.min(search.due, now + backoffMs(bounds, failures))
  return { ...search, kind, due, needsRelay: false, relayFrom: undefined }
}

/** Newest first, without repeats. */
function merge(old: readonly PeerAddress[], news: readonly PeerAddress[]): readonly PeerAddress[] {
  const all = new Map<string, PeerAddress>()
  for (const address of [...news, ...old]) if (!all.has(address.text)) all.set(address.text, address)
  return [...all.values()].slice(0, MAX_PEER_ADDRESSES)
}
