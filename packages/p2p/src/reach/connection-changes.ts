/** Draws the conclusions from a connection that opened or closed. */
import { BRIEF_CONNECTION_MS, RELAYED_GRACE_MS } from './limits.ts'
import { onDemandDone } from './demand.ts'
import { abandonDial, change, closeConnection, type Draft } from './draft.ts'
import { superfluousConnections } from './duplicates.ts'
import {
  isAskedFor,
  isConnected,
  isDirect,
  openOf,
  type PeerConnection,
  type PeerInput,
  type PeerState,
} from './peer-state.ts'
import { onSearchDone, waitAfterBriefs } from './search.ts'
import { noteTeller, onFound } from './found.ts'
import { failRelayed, planUpgrade } from './upgrade.ts'

export function onConnections(draft: Draft, input: Extract<PeerInput, { type: 'connections' }>): void {
  const before = new Map(draft.state.connections.map((connection) => [connection.id, connection]))
  const connections = input.connections.map((seen): PeerConnection => {
    const known = before.get(seen.id)
    return { ...seen, since: known?.since ?? draft.now, closing: known?.closing ?? false }
  })
  const opened = connections.filter(({ id }) => !before.has(id))
  const hasAnswered = connections.some(({ id, asked }) => !asked && before.get(id)?.asked === true)
  for (const { id } of connections) before.delete(id)
  change(draft, { connections })
  noteTeller(draft, input.from)
  if (opened.length > 0 || hasAnswered) closeSuperfluous(draft)
  if (opened.some(({ outbound }) => !outbound) && draft.state.attempts === 0)
    change(draft, { incoming: true })
  if (opened.length > 0) onOpened(draft)
  if (before.size > 0) onClosed(draft, [...before.values()], input)
}

function closeSuperfluous(draft: Draft): void {
  for (const { id } of superfluousConnections(draft.state.dialsFirst, openOf(draft.state))) {
    closeConnection(draft, id, 'another connection to the peer stands')
  }
}

function onOpened(draft: Draft): void {
  onSearchDone(draft)
  onDemandDone(draft)
  change(draft, { lastError: undefined })
  if (isDirect(draft.state)) onDirect(draft)
  else onRelayed(draft)
}

function onDirect(draft: Draft): void {
  abandonDial(draft, 'relay')
  if (isKeptByPeer(draft.state)) abandonDial(draft, 'direct')
  const { relayed, retireAt } = draft.state
  const beside = openOf(draft.state).filter(({ direct }) => !direct)
  // the side that dialled the relayed one closes it; the other does where that side does not
  const grace = beside.some(({ outbound }) => outbound) ? RELAYED_GRACE_MS : 2 * RELAYED_GRACE_MS
  change(draft, {
    upgrade: undefined,
    retireAt: beside.length === 0 ? undefined : (retireAt ?? draft.now + grace),
  })
  if (relayed === undefined) return
  change(draft, { relayed: undefined, rest: { until: Number.NEGATIVE_INFINITY, times: 0 } })
  draft.effects.push({ type: 'relayedOutcome', direct: true })
}

/** True when the peer dialled a connection that stays, whatever else stands beside it (`duplicates.ts`): one more would close. */
function isKeptByPeer(state: PeerState): boolean {
  return (
    !state.dialsFirst &&
    openOf(state).some(({ direct, outbound, dialsBack }) => direct && !outbound && !dialsBack)
  )
}

function onRelayed(draft: Draft): void {
  const { upgrade, relayed } = draft.state
  change(draft, {
    relayed: relayed ?? { since: draft.now, failed: false },
    upgrade: upgrade?.running === undefined ? planUpgrade(draft, 0) : upgrade,
  })
}

function onClosed(
  draft: Draft,
  closed: readonly PeerConnection[],
  { missedAt }: Extract<PeerInput, { type: 'connections' }>,
): void {
  if (isDirect(draft.state)) return
  if (isConnected(draft.state)) {
    if (!closed.some(({ direct }) => direct)) return
    const { relayed } = draft.state
    return change(draft, {
      relayed: relayed ?? { since: draft.now, failed: false },
      upgrade: planUpgrade(draft, 1),
      retireAt: undefined,
    })
  }
  // the other end saw it fail and had a better use for its place
  if (!isAskedFor(draft.state, draft.now)) failRelayed(draft)
  change(draft, { relayed: undefined, upgrade: undefined, retireAt: undefined })
  const isBrief = closed.every(({ since }) => draft.now - since < BRIEF_CONNECTION_MS)
  change(draft, { briefs: isBrief ? draft.state.briefs + 1 : 0 })
  if (missedAt === undefined) return
  onFound(draft, { type: 'found', kind: 'member', addresses: missedAt })
  waitAfterBriefs(draft)
}

/** Closes what a direct connection has replaced, once streams had the time to move. */
export function onRetireDue(draft: Draft): void {
  const { retireAt } = draft.state
  if (retireAt === undefined || retireAt > draft.now) return
  change(draft, { retireAt: undefined })
  if (!isDirect(draft.state)) return
  for (const { id, direct } of openOf(draft.state)) {
    if (!direct) closeConnection(draft, id, 'a direct connection replaced it')
  }
}
