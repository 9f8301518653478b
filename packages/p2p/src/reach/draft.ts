/** One step under way: the state so far and the effects so far. It lives no longer than the call of `step`. */
import {
  type Dial,
  draw,
  type PeerAddress,
  type PeerEffect,
  type PeerState,
  type Purpose,
  type Route,
} from './peer-state.ts'

export interface Draft {
  state: PeerState
  readonly effects: PeerEffect[]
  readonly now: number
}

export function change(draft: Draft, changes: Partial<PeerState>): void {
  draft.state = { ...draft.state, ...changes }
}

/** A number from 0 to 1. */
export function drawFrom(draft: Draft): number {
  const { float, seed } = draw(draft.state.seed)
  change(draft, { seed })
  return float
}

export function setDial(draft: Draft, route: Route, dial: Dial | undefined): void {
  const { [route]: _replaced, ...others } = draft.state.dials
  change(draft, { dials: dial === undefined ? others : { ...others, [route]: dial } })
}

/** Begins a dial at these addresses, in place of one by the same route. */
export function startDial(
  draft: Draft,
  route: 'direct' | 'relay',
  init: { readonly purposes: readonly Purpose[]; readonly addresses: readonly PeerAddress[] },
): void {
  const attempt = draft.state.attempts + 1
  const addresses = init.addresses.map(({ text }) => text)
  change(draft, { attempts: attempt })
  setDial(draft, route, { attempt, since: draft.now, purposes: init.purposes, addresses })
  draft.effects.push({ type: 'dial', route, attempt, addresses: init.addresses })
}

export function abandonDial(draft: Draft, route: Route): void {
  const dial = draft.state.dials[route]
  if (dial === undefined) return
  setDial(draft, route, undefined)
  draft.effects.push({ type: 'abandon', route, attempt: dial.attempt })
}

/** Dials the peer's own addresses for one more purpose, or joins the dial under way. False: nothing to dial. */
export function joinDirectDial(draft: Draft, purpose: Purpose, usable: readonly PeerAddress[]): boolean {
  const addresses = usable.filter(({ relay }) => relay === undefined)
  const running = draft.state.dials.direct
  if (running === undefined) {
    if (addresses.length > 0) startDial(draft, 'direct', { purposes: [purpose], addresses })
    return addresses.length > 0
  }
  const purposes = [...new Set([...running.purposes, purpose])]
  if (addresses.every(({ text }) => running.addresses.includes(text))) {
    setDial(draft, 'direct', { ...running, purposes })
  } else {
    abandonDial(draft, 'direct')
    startDial(draft, 'direct', { purposes, addresses })
  }
  return true
}

export function closeConnection(draft: Draft, id: string, why: string): void {
  markClosing(draft, id)
  draft.effects.push({ type: 'close', connection: id, why })
}

export function abortConnection(draft: Draft, id: string, why: string): void {
  markClosing(draft, id)
  draft.effects.push({ type: 'abort', connection: id, why })
}

function markClosing(draft: Draft, id: string): void {
  const connections = draft.state.connections.map((each) =>
    each.id === id ? { ...each, closing: true } : each,
  )
  change(draft, { connections })
}
