/** Dials for somebody who waits for the connection: what follows a dial that was granted, or failed. */
import { CONNECT_RETRY_MS } from './limits.ts'
import { change, type Draft, setDial, shareDirectDial, startDial } from './draft.ts'
import { type Demand, isConnected, type PeerAddress, type Route } from './peer-state.ts'

export function onDemandGranted(
  draft: Draft,
  route: 'direct' | 'relay',
  usable: readonly PeerAddress[],
): void {
  const { demand } = draft.state
  if (demand === undefined) return
  const started =
    route === 'direct' ? shareDirectDial(draft, 'demand', usable) : shareRelayDial(draft, usable)
  change(draft, { demand: { ...demand, [route]: 'running' } })
  if (!started) onDemandDialFailed(draft, route)
}

function shareRelayDial(draft: Draft, usable: readonly PeerAddress[]): boolean {
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
