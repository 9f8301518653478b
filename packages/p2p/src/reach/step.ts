/** The machine of one peer, without IO: an input gives the next state and effects (rules: `peer-state.ts`). */
import { HEARD_MEMBER_MS } from '../limits.ts'
import { SPECULATIVE_TRY_MS } from './limits.ts'
import { onConnections, onRetireDue } from './connection-changes.ts'
import { onDemand, onDemandDialFailed, onDemandDue, onDemandGranted } from './demand.ts'
import { abortConnection, change, closeConnection, type Draft, setDial } from './draft.ts'
import { openOf, type PeerInput, type PeerState, type Stepped } from './peer-state.ts'
import { onGrantedDial, onGrantedRelay, onSearchDialFailed } from './search.ts'
import { onFound } from './found.ts'
import { failRelayed, onUpgradeDialFailed, onUpgradeGranted } from './upgrade.ts'

export function step(state: PeerState, input: PeerInput, now: number): Stepped {
  const draft: Draft = { state, effects: [], now }
  take(draft, input)
  return { state: draft.state, effects: draft.effects }
}

function take(draft: Draft, input: PeerInput): void {
  switch (input.type) {
    case 'found':
      return onFound(draft, input)
    case 'demand':
      return onDemand(draft)
    case 'connections':
      return onConnections(draft, input)
    case 'granted':
      return onGranted(draft, input)
    case 'dialled':
      return onDialled(draft, input)
    case 'membership':
      draft.effects.push({ type: 'protect', ttlMs: input.proven ? undefined : HEARD_MEMBER_MS })
      return
    case 'relayOffer': {
      const { relay } = draft.state
      const offeredSince = input.offered ? (relay.offeredSince ?? draft.now) : undefined
      return change(draft, { relay: { ...relay, offeredSince } })
    }
    case 'reserved': {
      const { relay } = draft.state
      const refusedAt = input.ok ? undefined : draft.now
      return change(draft, { relay: { ...relay, reserving: false, refusedAt } })
    }
    case 'tick':
      return onTick(draft)
  }
}

function onGranted(draft: Draft, { grant, usable }: Extract<PeerInput, { type: 'granted' }>): void {
  switch (grant.kind) {
    case 'dial':
      return grant.purpose === 'demand'
        ? onDemandGranted(draft, 'direct', usable)
        : onGrantedDial(draft, usable)
    case 'dialOver':
      return grant.purpose === 'demand'
        ? onDemandGranted(draft, 'relay', usable)
        : onGrantedRelay(draft, usable)
    case 'upgrade':
      return onUpgradeGranted(draft, usable)
    case 'reserve':
      change(draft, { relay: { ...draft.state.relay, reserving: true } })
      draft.effects.push({ type: 'reserve' })
      return
    case 'makeRoom':
      for (const { id } of openOf(draft.state)) closeConnection(draft, id, 'makes room for another peer')
      return
    case 'prune':
      return abortConnection(draft, grant.connection, 'makes room for members')
  }
}

function onDialled(draft: Draft, { route, attempt, error }: Extract<PeerInput, { type: 'dialled' }>): void {
  const dial = draft.state.dials[route]
  if (dial?.attempt !== attempt) return
  setDial(draft, route, undefined)
  // the connection itself was told before, unless it closed at once
  const words = error ?? 'the connection closed at once'
  if (dial.purposes.includes('search')) onSearchDialFailed(draft, route, words)
  if (dial.purposes.includes('demand')) onDemandDialFailed(draft, route)
  if (dial.purposes.includes('upgrade')) onUpgradeDialFailed(draft, route)
}

function onTick(draft: Draft): void {
  const { relayed } = draft.state
  if (relayed !== undefined && relayed.since + SPECULATIVE_TRY_MS <= draft.now) failRelayed(draft)
  onRetireDue(draft)
  onDemandDue(draft)
}
