/**
 * A hundred nodes in virtual time, each with the machines of `src/reach` and nothing else of a node: their dials meet
 * NATs (`nat-model.ts` of the testkit), loss, firewalls that let one direction through, addresses that change, nodes that go and come.
 * Members that relay tell the members connected to them of each other, as `/mesh/peers/1` does.
 */
import { Heap, type Random } from '@mesh/core'
import { type MachineEffect, Machines } from '../src/reach/machines.ts'
import {
  isAskedFor,
  isSearching,
  type PeerAddress,
  type PeerInput,
  type PeerState,
  type SeenConnection,
} from '../src/reach/peer-state.ts'
import { Nat, type NatKind, punches } from '@mesh/testkit'
import { type SimConnection, SimPeer } from './sim-peer.ts'

const RTT_MS = 40
/** How long it takes to see that the other end is gone without a word. */
const SILENCE_MS = 30_000
const DIAL_TIMEOUT_MS = 10_000
const UPGRADE_TIMEOUT_MS = 10_000
const STAGGER_MS = 250
/** Between two looks of one node at its machines. */
const PLAN_GAP_MS = 25
/** A member that relays tells what changed so long after it did. */
const EXCHANGE_MS = 500

/** One connection that opened or closed, for the properties. */
export interface PathChange {
  readonly at: number
  readonly peers: string
  readonly opened: boolean
  readonly direct: boolean
}

/** Something that happens at its time. */
interface Event {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

export class ReachNetwork {
  now = 0
  readonly peers = new Map<string, SimPeer>()
  readonly changes: PathChange[] = []
  /** `from to`: nothing gets through that way. */
  readonly blocked = new Set<string>()
  lossOfDials = 0
  readonly #random: Random
  readonly #events = new Heap<Event>((a, b) => (a.at === b.at ? a.order < b.order : a.at < b.at))
  #order = 0
  #ids = 0

  constructor(random: Random) {
    this.#random = random
  }

  add(id: string, kind: NatKind, isRelay: boolean): SimPeer {
    const nat = new Nat(kind, this.#freshIp())
    const peer = new SimPeer({ id, nat, isRelay, machines: this.#machinesFor(id) })
    this.peers.set(id, peer)
    return peer
  }

  get(id: string): SimPeer {
    const peer = this.peers.get(id)
    if (peer === undefined) throw new Error(`no peer ${id}`)
    return peer
  }

  start(peer: SimPeer, bootstrap: readonly SimPeer[]): void {
    peer.machines = this.#machinesFor(peer.id)
    peer.isUp = true
    peer.wakeAt = Number.POSITIVE_INFINITY
    peer.heard.clear()
    for (const relay of bootstrap) {
      if (relay === peer) continue
      const addresses = this.#addressesOf(relay)
      peer.book.set(relay.id, addresses)
      this.#take(peer, relay.id, { type: 'found', kind: 'configured', addresses, source: 'bootstrap' })
    }
  }

  /** `graceful`: the others are told; else they notice in time. */
  stop(peer: SimPeer, graceful: boolean): void {
    this.#dropAll(peer, graceful ? RTT_MS / 2 : SILENCE_MS)
    peer.isUp = false
    peer.reservations.clear()
  }

  /** Another address, as when a laptop changes its network. */
  move(peer: SimPeer): void {
    peer.nat.move(this.#freshIp())
    this.#dropAll(peer, SILENCE_MS)
    peer.reservations.clear()
  }

  want(from: SimPeer, to: string): void {
    from.wanted.add(to)
    const ask = () => {
      if (from.isUp && from.to(to).length === 0) this.#take(from, to, { type: 'demand' })
      this.at(5_000, ask)
    }
    ask()
  }

  at(delayMs: number, run: () => void): void {
    this.#events.push({ at: this.now + delayMs, order: this.#order++, run })
  }

  run(ms: number): void {
    const until = this.now + ms
    for (
      let first = this.#events.peek();
      first !== undefined && first.at <= until;
      first = this.#events.peek()
    ) {
      this.#events.pop()
      this.now = first.at
      first.run()
    }
    this.now = until
  }

  canDial(from: SimPeer, to: SimPeer): boolean {
    return from !== to && from.isUp && to.isUp && to.nat.isReachable && this.#passes(from, to)
  }

  /** A direct connection is possible, by whichever end dials or through the NATs. */
  canBeDirect(a: SimPeer, b: SimPeer, relay: SimPeer): boolean {
    return this.canDial(a, b) || this.canDial(b, a) || this.#punches(a, b, relay)
  }

  // Effects of the machines

  #machinesFor(self: string): Machines {
    return new Machines({ self, seed: () => Math.floor(this.#random.float() * 2 ** 32) })
  }

  #take(peer: SimPeer, other: string, input: PeerInput): void {
    if (!peer.isUp) return
    this.#carryOut(peer, peer.machines.take(other, input, this.now))
    this.#wake(peer, this.now)
  }

  #wake(peer: SimPeer, at: number): void {
    if (at >= peer.wakeAt) return
    peer.wakeAt = at
    const { machines } = peer
    // as a node that is busy: not for each event alone
    this.at(Math.max(PLAN_GAP_MS, at - this.now), () => {
      if (peer.isUp && peer.machines === machines && peer.wakeAt <= this.now) this.#plan(peer)
    })
  }

  #plan(peer: SimPeer): void {
    peer.wakeAt = Number.POSITIVE_INFINITY
    this.#carryOut(peer, peer.machines.tick(this.now))
    const { effects, wakeAt } = peer.machines.plan(
      {
        surroundings: {
          canUpgrade: true,
          reservations: peer.isRelay ? undefined : [...peer.reservations],
          isMember: () => true,
          mayTalk: () => true,
          maxConnections: 300,
        },
        usable: (state, purpose) =>
          purpose === 'search' ? state.addresses : (peer.book.get(state.peer) ?? []),
      },
      this.now,
    )
    this.#carryOut(peer, effects)
    if (effects.length > 0) this.#measure(peer)
    if (wakeAt < Number.POSITIVE_INFINITY) this.#wake(peer, wakeAt)
  }

  #carryOut(peer: SimPeer, effects: readonly MachineEffect[]): void {
    for (const { peer: id, effect } of effects) {
      const other = this.get(id)
      switch (effect.type) {
        case 'dial':
          this.#dial(peer, other, effect)
          break
        case 'dialWebRtc':
          this.#dialWebRtc(peer, other, effect)
          break
        case 'abandon':
          peer.abandoned.add(`${id} ${effect.attempt}`)
          break
        case 'close':
        case 'abort':
          this.#closeFrom(peer, effect.connection)
          break
        case 'reserve':
          this.#reserve(peer, other)
          break
        case 'protect':
        case 'answer':
        case 'searchFailed':
        case 'upgradeFailed':
        case 'relayedOutcome':
      }
    }
  }

  #dial(
    from: SimPeer,
    to: SimPeer,
    {
      route,
      attempt,
      addresses,
    }: {
      readonly route: 'direct' | 'relay'
      readonly attempt: number
      readonly addresses: readonly PeerAddress[]
    },
  ): void {
    const end = (delayMs: number, open: (() => void) | undefined, error: string) =>
      this.at(delayMs, () => {
        if (from.abandoned.delete(`${to.id} ${attempt}`)) return
        open?.()
        this.#take(from, to.id, { type: 'dialled', route, attempt, ...(open === undefined ? { error } : {}) })
      })
    if (this.#random.float() < this.lossOfDials) return end(DIAL_TIMEOUT_MS, undefined, 'no answer')
    if (route === 'relay') {
      const relay = addresses
        .map((address) => (address.relay === undefined ? undefined : this.get(address.relay)))
        .find((each) => each !== undefined && this.#canCircuit(from, to, each))
      if (relay === undefined) return end(RTT_MS, undefined, 'no reservation')
      return end(3 * RTT_MS, () => this.#open(from, to, { direct: false, transport: 'tcp', relay }), '')
    }
    const at = addresses.findIndex(({ text }) => text === this.#directAddress(to))
    if (at === -1 || !this.canDial(from, to)) {
      return end(this.#random.float() < 0.5 ? RTT_MS : DIAL_TIMEOUT_MS, undefined, 'no answer')
    }
    return end(
      2 * RTT_MS + at * STAGGER_MS,
      () => this.#open(from, to, { direct: true, transport: 'tcp' }),
      '',
    )
  }

  #dialWebRtc(
    from: SimPeer,
    to: SimPeer,
    { attempt, relayAt }: { readonly attempt: number; readonly relayAt: string },
  ): void {
    const relay = this.get(relayAt.split('/').at(-1) ?? '')
    const works =
      this.#random.float() >= this.lossOfDials &&
      this.#canCircuit(from, to, relay) &&
      this.#punches(from, to, relay)
    this.at(works ? 5 * RTT_MS : UPGRADE_TIMEOUT_MS, () => {
      if (from.abandoned.delete(`${to.id} ${attempt}`)) return
      if (works) this.#open(from, to, { direct: true, transport: 'webrtc' })
      const error = works ? {} : { error: 'the NATs let nothing through' }
      this.#take(from, to.id, { type: 'dialled', route: 'webrtc', attempt, ...error })
    })
  }

  #reserve(peer: SimPeer, relay: SimPeer): void {
    this.at(RTT_MS, () => {
      const ok = relay.isUp && peer.to(relay.id).some(({ direct }) => direct)
      if (ok) {
        peer.reservations.add(relay.id)
        this.#announce(peer)
      }
      this.#take(peer, relay.id, { type: 'reserved', ok })
    })
  }

  // Connections

  #canCircuit(from: SimPeer, to: SimPeer, relay: SimPeer): boolean {
    if (!to.reservations.has(relay.id) || !relay.isUp) return false
    return from.to(relay.id).some(({ direct }) => direct) || this.canDial(from, relay)
  }

  #open(
    dialler: SimPeer,
    answerer: SimPeer,
    init: { readonly direct: boolean; readonly transport: string; readonly relay?: SimPeer },
  ): void {
    if (!dialler.isUp || !answerer.isUp) return
    const { direct, transport, relay } = init
    const connection: SimConnection = {
      id: `c${++this.#ids}`,
      dialler,
      answerer,
      direct,
      transport,
      relay,
      openedAt: this.now,
    }
    this.changes.push({ at: this.now, peers: pairOf(dialler.id, answerer.id), opened: true, direct })
    answerer.connections.set(connection.id, connection)
    this.#look(answerer, dialler.id)
    dialler.connections.set(connection.id, connection)
    this.#look(dialler, answerer.id)
    if (!direct) return
    this.at(RTT_MS, () => {
      if (answerer.isRelay && dialler.connections.has(connection.id)) {
        this.#take(dialler, answerer.id, { type: 'relayOffer', offered: true })
      }
    })
    if (answerer.isRelay) this.#announce(dialler)
    if (dialler.isRelay) this.#announce(answerer)
  }

  #closeFrom(peer: SimPeer, id: string, afterMs = RTT_MS / 2): void {
    const connection = peer.connections.get(id)
    if (connection === undefined) return
    const { dialler, answerer, direct } = connection
    const other = dialler === peer ? answerer : dialler
    peer.connections.delete(id)
    this.changes.push({ at: this.now, peers: pairOf(dialler.id, answerer.id), opened: false, direct })
    this.at(0, () => this.#look(peer, other.id))
    this.at(afterMs, () => {
      if (!other.connections.delete(id)) return
      this.#look(other, peer.id)
    })
    if (!direct) return
    peer.reservations.delete(other.id)
    other.reservations.delete(peer.id)
    // what ran over the relay ends with it
    for (const each of [peer, other]) {
      const relay = each === peer ? other : peer
      if (each.to(relay.id).some((left) => left.direct)) continue
      for (const circuit of each.connections.values()) {
        if (circuit.relay === relay) this.#closeFrom(each, circuit.id, afterMs)
      }
    }
  }

  #dropAll(peer: SimPeer, afterMs: number): void {
    for (const id of peer.connections.keys()) this.#closeFrom(peer, id, afterMs)
  }

  #look(peer: SimPeer, other: string): void {
    const connections = peer.to(other).map(
      ({ id, dialler, direct, transport, relay, openedAt }): SeenConnection => ({
        id,
        direct,
        transport,
        outbound: dialler === peer,
        relayAt: relay === undefined ? undefined : `/p2p/${relay.id}`,
        // whoever asked opened a stream
        used: peer.wanted.has(other) || this.get(other).wanted.has(peer.id),
        dialsBack: false,
        openedAt,
        asked: false,
      }),
    )
    const missed = connections.length === 0 ? { missedAt: peer.book.get(other) ?? [] } : {}
    this.#take(peer, other, { type: 'connections', connections, ...missed })
    if (!connections.some(({ direct }) => direct)) {
      this.#take(peer, other, { type: 'relayOffer', offered: false })
    }
  }

  // Who knows of whom

  #directAddress(peer: SimPeer): string {
    return `/ip4/${peer.nat.ip}/tcp/4001`
  }

  #addressesOf(peer: SimPeer): readonly PeerAddress[] {
    const relayed = [...peer.reservations].map((relay) => ({ text: `/p2p/${relay}/p2p-circuit`, relay }))
    return [{ text: this.#directAddress(peer), relay: undefined }, ...relayed]
  }

  /** Members that relay pass it on to all others that are connected to them, and tell the newcomer of those. */
  #announce(peer: SimPeer): void {
    this.at(EXCHANGE_MS, () => {
      if (!peer.isUp) return
      for (const { dialler, answerer, direct } of peer.connections.values()) {
        const hub = dialler === peer ? answerer : dialler
        if (!hub.isRelay || !hub.isUp || !direct) continue
        this.#tell(hub, peer)
        for (const connection of hub.connections.values()) {
          const other = connection.dialler === hub ? connection.answerer : connection.dialler
          if (other === peer || !connection.direct) continue
          this.#tell(other, peer)
          this.#tell(peer, other)
        }
      }
    })
  }

  #tell(listener: SimPeer, subject: SimPeer): void {
    const says = `${subject.nat.ip} ${[...subject.reservations].join(' ')}`
    if (listener.heard.get(subject.id) === says) return
    listener.heard.set(subject.id, says)
    const addresses = this.#addressesOf(subject)
    listener.book.set(subject.id, addresses)
    this.#take(listener, subject.id, { type: 'found', kind: 'found', addresses, source: 'members' })
  }

  #passes(from: SimPeer, to: SimPeer): boolean {
    return !this.blocked.has(`${from.id} ${to.id}`)
  }

  #punches(a: SimPeer, b: SimPeer, relay: SimPeer): boolean {
    const of = (nat: Nat) => (nat === a.nat ? a : b)
    return punches(
      [a.nat, b.nat],
      { ip: relay.nat.ip, port: 3478 },
      {
        now: this.now,
        passes: (from, to) => this.#passes(of(from), of(to)),
      },
    )
  }

  #freshIp(): string {
    const n = ++this.#ids
    return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  }

  /** The most that the node ever had under way. */
  #measure(peer: SimPeer): void {
    const states = peer.machines.all()
    const { now } = this
    const isSpeculative = (state: PeerState) =>
      !isAskedFor(state, now) &&
      state.connections.length === 0 &&
      state.dials.relay?.purposes.includes('search') === true
    const { most } = peer
    peer.most = {
      searching: Math.max(most.searching, states.filter(isSearching).length),
      upgrading: Math.max(
        most.upgrading,
        states.filter(({ upgrade }) => upgrade?.running !== undefined).length,
      ),
      speculative: Math.max(most.speculative, states.filter(isSpeculative).length),
      reservations: Math.max(most.reservations, peer.isRelay ? 0 : peer.reservations.size),
    }
  }
}

export const pairOf = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`)
