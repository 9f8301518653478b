/** The machines of all peers and their shared state, without IO. Keeps `MAX_KNOWN_PEERS` peers at most. */
import { MAX_KNOWN_PEERS } from '../limits.ts'
import { RELAY_CHECK_DELAY_MS, RELAY_REFUSED_MS, SPECULATIVE_TRY_MS } from './limits.ts'
import {
  createPeerState,
  isConnected,
  isDirect,
  isSearching,
  openOf,
  type PeerEffect,
  type PeerInput,
  type PeerState,
} from './peer-state.ts'
import { plan, type Surroundings, wantsSomething } from './plan.ts'
import { afterOutcome, afterSuccess, INITIAL_STATE, type SharedState } from './shared-state.ts'
import { step } from './step.ts'
import { countByTeller } from './fair-order.ts'

export interface MachineEffect {
  readonly peer: string
  readonly effect: PeerEffect
}

export interface MachinesInit {
  readonly self: string
  /** A seed for each peer's draws. */
  readonly seed: () => number
  /** After each change of a peer. */
  readonly onChange?: (before: PeerState | undefined, after: PeerState) => void
}

/** The inputs that make a peer known that was not. */
const ADMITTING: ReadonlySet<PeerInput['type']> = new Set(['demand', 'connections', 'membership'])

/** Grants follow from grants a few times at most: a dial without addresses, then its relay, then its failure. */
const MAX_ROUNDS = 8

export class Machines {
  readonly #init: MachinesInit
  readonly #states = new Map<string, PeerState>()
  /** Those of them that want something. */
  readonly #awake = new Map<string, PeerState>()
  #openConnections = 0
  #shared: SharedState = INITIAL_STATE

  constructor(init: MachinesInit) {
    this.#init = init
  }

  get(peer: string): PeerState | undefined {
    return this.#states.get(peer)
  }

  all(): readonly PeerState[] {
    return [...this.#states.values()]
  }

  /** Forgets a peer, whatever it is wanted for. */
  forget(peer: string): void {
    const state = this.#states.get(peer)
    if (state === undefined) return
    this.#openConnections -= openOf(state).length
    this.#forget(state)
  }

  get shared(): SharedState {
    return this.#shared
  }

  /** Nothing happens with a new peer that finds no room; one that is connected or asked for always does. */
  take(peer: string, input: PeerInput, now: number): readonly MachineEffect[] {
    const before = this.#states.get(peer)
    if (before === undefined && !this.#admits(peer, input, now)) return []
    const { self, seed, onChange } = this.#init
    const { state, effects } = step(before ?? createPeerState({ peer, self, seed: seed() }), input, now)
    this.#keep(before, state)
    const isNew = isConnected(state) && !(before !== undefined && isConnected(before))
    // of a peer that closed the last one at once the dials go on to count
    if (isNew && state.briefs === 0) this.#shared = afterSuccess(this.#shared, peer)
    for (const effect of effects) {
      if (effect.type === 'relayedOutcome') this.#shared = afterOutcome(this.#shared, effect.direct, now)
    }
    onChange?.(before, state)
    return effects.map((effect) => ({ peer, effect }))
  }

  /** Lets time pass for those that waited for it. */
  tick(now: number): readonly MachineEffect[] {
    return [...this.#awake.keys()].flatMap((peer) => this.take(peer, { type: 'tick' }, now))
  }

  /** Grants what the plan allows, with the addresses that are `usable` now. Returns when to plan again. */
  plan(
    given: {
      readonly surroundings: Surroundings
      readonly usable: (
        state: PeerState,
        purpose: 'search' | 'demand' | 'upgrade',
      ) => readonly PeerState['addresses'][number][]
    },
    now: number,
  ): { readonly effects: readonly MachineEffect[]; readonly wakeAt: number } {
    const effects: MachineEffect[] = []
    let wake = Number.POSITIVE_INFINITY
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const planned = plan(
        [...this.#awake.values()],
        {
          shared: this.#shared,
          surroundings: given.surroundings,
          everyone: () => this.all(),
          openConnections: this.#openConnections,
        },
        now,
      )
      this.#shared = planned.shared
      wake = planned.wakeAt
      if (planned.grants.length === 0) break
      for (const { peer, grant } of planned.grants) {
        const state = this.#states.get(peer)
        if (state === undefined) continue
        const purpose = 'purpose' in grant ? grant.purpose : grant.kind === 'upgrade' ? 'upgrade' : undefined
        const usable = purpose === undefined ? [] : given.usable(state, purpose)
        effects.push(...this.take(peer, { type: 'granted', grant, usable }, now))
      }
    }
    for (const state of this.#awake.values()) wake = Math.min(wake, wakeAt(state, now))
    return { effects, wakeAt: wake }
  }

  #keep(before: PeerState | undefined, state: PeerState): void {
    const { peer } = state
    this.#states.set(peer, state)
    if (wantsSomething(state)) this.#awake.set(peer, state)
    else this.#awake.delete(peer)
    if (before?.connections === state.connections) return
    this.#openConnections += openOf(state).length - (before === undefined ? 0 : openOf(before).length)
  }

  #admits(peer: string, input: PeerInput, now: number): boolean {
    if (peer === this.#init.self) return false
    const { type } = input
    if (type === 'found' ? input.addresses.length === 0 : !ADMITTING.has(type)) return false
    if (type === 'connections' && input.connections.length === 0 && input.missedAt === undefined) return false
    if (this.#states.size < MAX_KNOWN_PEERS || this.#forgetOne(now) || type !== 'found') return true
    return this.#forgetNewcomer(input.from)
  }

  /** Forgets one that nothing is wanted of; else one only heard of that failed or waits for a relay. */
  #forgetOne(now: number): boolean {
    const states = this.all().filter(
      (state) => !isConnected(state) && state.demand === undefined && !isSearching(state),
    )
    const idle = states.find(({ search, rest }) => search === undefined && rest.until <= now)
    const worst =
      idle ??
      states.find(({ search }) => search === undefined) ??
      states.find(({ search }) => search?.kind === 'found' && (search.failures > 0 || search.needsRelay))
    return worst !== undefined && this.#forget(worst)
  }

  /** Forgets one that waits for its first dial, of an address that told of more such than the given one. */
  #forgetNewcomer(from: string | undefined): boolean {
    const waiting = this.all().filter(
      ({ search, demand, dials }) =>
        search?.kind === 'found' &&
        demand === undefined &&
        dials.direct === undefined &&
        dials.relay === undefined,
    )
    const counts = countByTeller(waiting)
    const [most, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0])
    if (count <= 1 + (from === undefined ? 0 : (counts.get(from) ?? 0))) return false
    const worst = waiting.findLast(({ tellers }) => tellers.length === 1 && tellers[0] === most)
    return worst !== undefined && this.#forget(worst)
  }

  #forget({ peer }: PeerState): boolean {
    this.#awake.delete(peer)
    return this.#states.delete(peer)
  }
}

/** When the peer is to be looked at again if nothing happens before; infinity: never. */
export function wakeAt(state: PeerState, now: number): number {
  const { search, demand, relayed, upgrade, retireAt, relay, rest } = state
  let least = Number.POSITIVE_INFINITY
  const wake = (at: number | undefined) => {
    if (at !== undefined && at > now && at < least) least = at
  }
  wake(retireAt)
  wake(demand?.relayFrom)
  wake(demand?.retryAt)
  if (search !== undefined && !isConnected(state)) {
    if (!isSearching(state) && !search.needsRelay) wake(search.due)
    if (search.relayFrom !== undefined) wake(Math.max(search.relayFrom, rest.until))
  }
  if (relayed?.failed === false) wake(relayed.since + SPECULATIVE_TRY_MS)
  if (upgrade !== undefined && upgrade.running === undefined && !isDirect(state)) wake(upgrade.due)
  if (relay.offeredSince !== undefined) {
    wake(relay.offeredSince + RELAY_CHECK_DELAY_MS)
    if (relay.refusedAt !== undefined) wake(relay.refusedAt + RELAY_REFUSED_MS)
  }
  return least
}
