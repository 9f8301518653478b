/** Somebody waits for a connection: the peer's own addresses at once, a relay soon after, both once more. */
import { ASKED_RELAY_STAGGER_MS, CONNECT_RETRY_MS, MAX_DEMAND_NEWS } from './limits.ts'
import { change, type Draft, setDial, joinDirectDial, startDial } from './draft.ts'
import { type Demand, isConnected, type PeerAddress, type Route } from './peer-state.ts'

export function onDemand(draft: Draft): void {
  change(draft, { askedAt: draft.now })
  if (isConnected(draft.state)) draft.effects.push({ type: 'answer', connected: true })
  else if (draft.state.demand === undefined) change(draft, { demand: begin(draft, 1) })
}

function begin({ now }: Draft, tries: number): Demand {
  const relayFrom = now + ASKED_RELAY_STAGGER_MS
  return { tries, since: now, direct: 'wanted', relay: 'wanted', relayFrom, news: 0, retryAt: undefined }
}

/**
 * New addresses while somebody waits for the peer. The node tries at once what had failed without them. A member is often heard of
 * before the relay that leads to it, and an unanswered direct dial hangs for seconds.
 */
export function onDemandNews(draft: Draft, addresses: readonly PeerAddress[]): void {
  const { demand } = draft.state
  if (demand === undefined || demand.retryAt !== undefined || demand.news >= MAX_DEMAND_NEWS) return
  const isDirect = demand.direct === 'failed' && addresses.some(({ relay }) => relay === undefined)
  const isRelay = demand.relay === 'failed' && addresses.some(({ relay }) => relay !== undefined)
  if (!isDirect && !isRelay) return
  change(draft, {
    demand: {
      ...demand,
      news: demand.news + 1,
      ...(isDirect && { direct: 'wanted' as const }),
      ...(isRelay && { relay: 'wanted' as const, relayFrom: draft.now }),
    },
  })
}

export function onDemandDue(draft: Draft): void {
  const { demand } = draft.state
  if (demand?.retryAt !== undefined && demand.retryAt <= draft.now) change(draft, { demand: begin(draft, 2) })
}

export function onDemandDone(draft: Draft): void {
  if (draft.state.demand === undefined) return
  change(draft, { demand: undefined })
  draft.effects.push({ type: 'answer', connected: true })
}

export function onDemandGranted(
  draft: Draft,
  route: 'direct' | 'relay',
  usable: readonly PeerAddress[],
): void {
  const { demand } = draft.state
  if (demand === undefined) return
  const started = route === 'direct' ? joinDirectDial(draft, 'demand', usable) : joinRelayDial(draft, usable)
  change(draft, { demand: { ...demand, [route]: 'running' } })
  if (!started) onDemandDialFailed(draft, route)
}

function joinRelayDial(draft: Draft, usable: readonly PeerAddress[]): boolean {
  const running = draft.state.dials.relay
  if (running !== undefined) {
    setDial(draft, 'relay', { ...running, purposes: [...new Set([...running.purposes, 'demand' as const])] })
    return true
  }
  const addresses = usable.filter(({ relay }) => relay !== undefined)
  if (addresses.length === 0) return false
  startDial(draft, 'relay', { purposes: ['demand'], addresses })
  return true
}

export function onDemandDialFailed(draft: Draft, route: Route): void {
  const { demand } = draft.state
  if (demand === undefined || isConnected(draft.state)) return
  const next: Demand = { ...demand, [route]: 'failed' }
  if (next.direct !== 'failed' || next.relay !== 'failed') change(draft, { demand: next })
  else if (demand.tries === 1) change(draft, { demand: { ...next, retryAt: draft.now + CONNECT_RETRY_MS } })
  else {
    change(draft, { demand: undefined })
    draft.effects.push({ type: 'answer', connected: false })
  }
}
