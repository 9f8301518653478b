/**
 * Divides what is scarce between all peers: dials at a time and by minute, speculative relayed connections,
 * upgrades, reservations, connections. Pure: it reads the machines' states and says who may do what now.
 *
 * Speculative relayed connections: two members that only a relay joins are connected over it so that they can find a
 * direct path. In a star whose leaves reach nothing but the hub no such path exists, and all pairs at once would take
 * all of the hub's time. So one is tried at a time; each that becomes direct doubles that, up to a bound; one that does
 * not makes the next one wait, longer each time. It stays until another peer wants its place; the oldest that nobody
 * uses goes first. Gossip and the ledger need none of them: who relays is a member, on the topic, and connected to both.
 */
import {
  FREE_FOR_MEMBERS,
  MAX_FURTHER_DIALS,
  MAX_PARALLEL_DIALS,
  MAX_PARALLEL_UPGRADES,
  MAX_SPECULATIVE_RELAYED,
  RELAYS_WANTED,
  RELAY_CHECK_DELAY_MS,
  RELAY_REFUSED_MS,
  STRANGER_STAYS_MS,
} from './limits.ts'
import {
  type Grant,
  holdsSpeculativeDial,
  isAskedFor,
  isConnected,
  isDirect,
  isSearching,
  type PeerState,
} from './peer-state.ts'
import { RANK } from './found.ts'
import { mayDial, type SharedState, withoutOldDials } from './shared-state.ts'
import { countByTeller, inFairOrder, type Waiting } from './fair-order.ts'

/** The facts that the machines cannot know. */
export interface Surroundings {
  /** A relayed connection can be made direct: WebRTC is there. */
  readonly canUpgrade: boolean
  /** Peers on which a reservation stands; undefined: none are wanted. */
  readonly reservations: readonly string[] | undefined
  readonly isMember: (peer: string) => boolean
  /** False: access rules keep the peer apart from this node, and no search takes a relay. */
  readonly mayTalk: (peer: string) => boolean
  readonly maxConnections: number
}

export interface Plan {
  readonly grants: readonly { readonly peer: string; readonly grant: Grant }[]
  readonly shared: SharedState
  /** When to plan again if nothing happens before. */
  readonly wakeAt: number
}

export interface PlanInit {
  readonly shared: SharedState
  readonly surroundings: Surroundings
  /** All peers, for when there are too many connections. */
  readonly everyone: () => readonly PeerState[]
  /** Connections that stand, in all. */
  readonly openConnections: number
}

/** `states`: the peers that want something (`wantsSomething`); most are connected and do not. */
export function plan(states: readonly PeerState[], init: PlanInit, now: number): Plan {
  const { surroundings } = init
  const planner = new Planner(states, withoutOldDials(init.shared, now), now)
  planner.grantDemands()
  planner.grantSearches(surroundings.mayTalk)
  if (surroundings.canUpgrade) planner.grantUpgrades()
  planner.closeSurplusRelayed()
  planner.grantReservation(surroundings.reservations)
  const tooMany = init.openConnections - Math.floor(surroundings.maxConnections * (1 - FREE_FOR_MEMBERS))
  if (tooMany > 0) planner.prune(init.everyone(), { tooMany, isMember: surroundings.isMember })
  return planner.result()
}

/** Time or a grant may change the peer's state. */
export function wantsSomething(state: PeerState): boolean {
  const { demand, upgrade, relayed, retireAt, relay, dials } = state
  return (
    (state.search !== undefined && !isConnected(state)) ||
    demand !== undefined ||
    upgrade !== undefined ||
    relayed !== undefined ||
    retireAt !== undefined ||
    relay.offeredSince !== undefined ||
    dials.direct !== undefined ||
    dials.relay !== undefined
  )
}

/** Lives for one call of `plan`. */
class Planner {
  readonly #states: readonly PeerState[]
  readonly #now: number
  readonly #grants: { peer: string; grant: Grant }[] = []
  /** Speculative relayed connections that stand. */
  readonly #relayed: PeerState[]
  #shared: SharedState
  #wakeAt = Number.POSITIVE_INFINITY

  constructor(states: readonly PeerState[], shared: SharedState, now: number) {
    this.#states = states
    this.#shared = shared
    this.#now = now
    this.#relayed = states.filter(
      (state) => state.relayed !== undefined && isConnected(state) && !isAskedFor(state, now),
    )
  }

  result(): Plan {
    return { grants: this.#grants, shared: this.#shared, wakeAt: this.#wakeAt }
  }

  #grant(peer: string, grant: Grant): void {
    this.#grants.push({ peer, grant })
  }

  #wake(at: number): void {
    if (at > this.#now) this.#wakeAt = Math.min(this.#wakeAt, at)
  }

  /** A demanded connection waits for nothing. */
  grantDemands(): void {
    for (const { peer, demand } of this.#states) {
      if (demand === undefined || demand.retryAt !== undefined) continue
      const isRelayDue = demand.direct === 'failed' || demand.relayFrom <= this.#now
      if (demand.direct === 'wanted') this.#grant(peer, { kind: 'dial', purpose: 'demand' })
      else if (demand.relay === 'wanted' && isRelayDue)
        this.#grant(peer, { kind: 'dialOver', purpose: 'demand' })
    }
  }

  grantSearches(mayTalk: Surroundings['mayTalk']): void {
    let running = this.#states.filter(isSearching).length
    const speculative = {
      dialling: this.#states.filter((s) => !isConnected(s) && holdsSpeculativeDial(s)).length,
    }
    const due = this.#states.filter(
      (each) => this.#isDue(each) && (each.search?.relayFrom === undefined || mayTalk(each.peer)),
    )
    const dialling = countByTeller(this.#states.filter(isSearching))
    for (const waiting of inFairOrder(due, this.#states, byRank)) {
      // those whose relay is due have their place already
      const isNew = !isSearching(waiting.state)
      const ofTeller = dialling.get(waiting.teller) ?? 0
      const mayHave = MAX_PARALLEL_DIALS + (ofTeller === 0 ? MAX_FURTHER_DIALS : 0)
      if (isNew && running >= mayHave) continue
      if (!this.#grantSearch(waiting, speculative) || !isNew) continue
      running++
      dialling.set(waiting.teller, ofTeller + 1)
    }
  }

  #isDue(state: PeerState): boolean {
    const { search, dials, rest, configured } = state
    if (search === undefined || isConnected(state)) return false
    if (search.relayFrom !== undefined) {
      if (dials.relay !== undefined || search.relayFrom > this.#now) return false
      return configured || rest.until <= this.#now
    }
    return dials.direct === undefined && dials.relay === undefined && search.due <= this.#now
  }

  #grantSearch({ state, teller }: Waiting, speculative: { dialling: number }): boolean {
    const { peer, search, configured } = state
    if (search === undefined) return false
    if (search.relayFrom !== undefined) {
      if (!configured && !this.#takeSpeculative(speculative)) return false
      this.#grant(peer, { kind: 'dialOver', purpose: 'search' })
      return true
    }
    if (!configured) {
      if (!mayDial(this.#shared, teller)) {
        // looks again when the oldest of these dials is a minute old
        this.#wake((this.#shared.vain[0]?.at ?? this.#now) + 60_000)
        return false
      }
      this.#shared = { ...this.#shared, vain: [...this.#shared.vain, { at: this.#now, teller, peer }] }
    }
    this.#grant(peer, { kind: 'dial', purpose: 'search' })
    return true
  }

  /** Takes a place for one more speculative relayed connection, from another that failed where that is needed. */
  #takeSpeculative(speculative: { dialling: number }): boolean {
    this.#wake(this.#shared.pauseUntil)
    if (this.#now < this.#shared.pauseUntil) return false
    const trying = this.#relayed.filter(({ relayed }) => relayed?.failed === false)
    if (speculative.dialling + trying.length >= this.#shared.parallel) return false
    if (
      speculative.dialling + this.#relayed.length >= MAX_SPECULATIVE_RELAYED &&
      !this.#closeOldestFailed()
    ) {
      return false
    }
    speculative.dialling++
    return true
  }

  #closeOldestFailed(): boolean {
    const oldest = this.#relayed
      .filter(({ relayed, connections }) => relayed?.failed === true && !connections.some(({ used }) => used))
      .sort((a, b) => (a.relayed?.since ?? 0) - (b.relayed?.since ?? 0))[0]
    if (oldest === undefined) return false
    this.#relayed.splice(this.#relayed.indexOf(oldest), 1)
    this.#grant(oldest.peer, { kind: 'makeRoom' })
    return true
  }

  /** More came in than there is room for: other nodes' dials took it. */
  closeSurplusRelayed(): void {
    while (this.#relayed.length > MAX_SPECULATIVE_RELAYED) if (!this.#closeOldestFailed()) return
  }

  grantUpgrades(): void {
    let running = this.#states.filter(({ upgrade }) => upgrade?.running !== undefined).length
    const due = this.#states
      .filter((state) => {
        const { upgrade } = state
        if (upgrade === undefined || upgrade.running !== undefined || upgrade.due > this.#now) return false
        return isConnected(state) && !isDirect(state)
      })
      .map((state) => ({
        peer: state.peer,
        due: state.upgrade?.due ?? 0,
        asked: isAskedFor(state, this.#now),
      }))
      .sort((a, b) => Number(b.asked) - Number(a.asked) || a.due - b.due)
    for (const { peer } of due) {
      if (running++ >= MAX_PARALLEL_UPGRADES) return
      this.#grant(peer, { kind: 'upgrade' })
    }
  }

  grantReservation(reservations: readonly string[] | undefined): void {
    if (reservations === undefined || reservations.length >= RELAYS_WANTED) return
    if (this.#states.some(({ relay }) => relay.reserving)) return
    const candidate = this.#states
      .filter((state) => {
        const { offeredSince, refusedAt } = state.relay
        if (offeredSince === undefined || offeredSince + RELAY_CHECK_DELAY_MS > this.#now) return false
        if (refusedAt !== undefined && refusedAt + RELAY_REFUSED_MS > this.#now) return false
        return isDirect(state) && !reservations.includes(state.peer)
      })
      .sort((a, b) => (a.relay.offeredSince ?? 0) - (b.relay.offeredSince ?? 0))[0]
    if (candidate !== undefined) this.#grant(candidate.peer, { kind: 'reserve' })
  }

  /** Keeps below libp2p's limit, at which it accepts nobody: strangers alone could keep all members out. */
  prune(
    states: readonly PeerState[],
    { tooMany, isMember }: { readonly tooMany: number; readonly isMember: (peer: string) => boolean },
  ): void {
    const strangers = states
      .filter(({ peer, configured, connections }) => connections.length > 0 && !configured && !isMember(peer))
      .flatMap(({ peer, connections }) =>
        connections.filter(({ closing }) => !closing).map(({ id, since }) => ({ peer, id, since })),
      )
      .sort((a, b) => a.since - b.since)
    const late = strangers.filter(({ since }) => since + STRANGER_STAYS_MS <= this.#now)
    for (const { peer, id } of late.slice(0, tooMany)) this.#grant(peer, { kind: 'prune', connection: id })
    // at the limit nobody more comes, so nothing else would tell when to look again
    const next = strangers[late.length]
    if (next !== undefined) this.#wake(next.since + STRANGER_STAYS_MS)
  }
}

/** Configured peers first, then members; of those that wait for a place by lot, of the others the longest due. */
function byRank(a: PeerState, b: PeerState): number {
  if (a.search === undefined || b.search === undefined) return 0
  const rank = RANK[a.search.kind] - RANK[b.search.kind]
  if (rank !== 0) return rank
  if (a.search.relayFrom !== undefined && b.search.relayFrom !== undefined) return a.lot - b.lot
  return a.search.due - b.search.due
}
