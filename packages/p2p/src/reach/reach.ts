/**
 * The shell around the machines: turns libp2p's events and the node's wishes into inputs, and effects into dials,
 * closed connections, reservations and answers. It decides nothing. One timer wakes it when a machine wants to be woken.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Clock, type Logger, type Random, toError, untilAborted } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { addressGroupOf } from '../addresses/address-group.ts'
import type { AddressRules } from '../addresses/address-rules.ts'
import type { Find } from '../discovery/find.ts'
import type { DiscoveryMethod } from '../discovery/discovery-methods.ts'
import type { ConnectionChecks } from '../libp2p/liveness-checks.ts'
import { allConnectionsTo, connectionsTo } from '../libp2p/connections.ts'
import { describeDialError } from '../libp2p/describe-dial-error.ts'
import { MAX_CONNECTIONS } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { RELAY_HOP } from '../protocols.ts'
import { describeReach, reachPhase } from './describe.ts'
import { type Dials, toPeerAddress } from './dials.ts'
import { type MachineEffect, Machines } from './machines.ts'
import type { PeerEffect, PeerInput, PeerState, Route } from './peer-state.ts'
import type { Surroundings } from './plan.ts'
import type { RelayReservations } from './relay-reservations.ts'
import { seeConnection } from './seen-connection.ts'

export interface ReachInit {
  /** This node's own id. */
  readonly self: string
  readonly isConfigured: (peer: string) => boolean
  /** A search for the peer failed, or no address of it may be used. */
  readonly onError: (peer: string, error: Error) => void
  /** May this node and the peer talk, by access rules? All may by default. */
  readonly mayTalk?: (peer: string) => boolean
  /** The most connections; `MAX_CONNECTIONS` by default. */
  readonly maxConnections?: number
}

export interface ReachComponents {
  readonly host: Pick<Libp2p, 'getConnections' | 'peerStore' | 'addEventListener' | 'removeEventListener'>
  readonly dials: Pick<Dials, 'usable' | 'dial' | 'dialWebRtc' | 'abandon' | 'stop'>
  readonly rules: Pick<AddressRules, 'isBlocked'>
  readonly book: Pick<PeerBook, 'addressesOf' | 'noteFound' | 'noteError'>
  readonly membership: Pick<Membership, 'isMember' | 'onChange' | 'onMember'>
  readonly spoken: Pick<SpokenProtocols, 'speaks' | 'onChange'>
  readonly checks: Pick<ConnectionChecks, 'onDoubt'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Somebody waits for a connection. */
interface Waiting {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  /** The answers that the dials gave meanwhile. */
  readonly errors: unknown[]
}

/** The highest worth that libp2p takes. */
const MEMBER_WORTH = 100
const MEMBER_TAG = 'mesh-member'
const ROUTES: readonly Route[] = ['direct', 'relay', 'webrtc']
/** Answers of dials kept for whoever waits. */
const MAX_KEPT_ERRORS = 4

/** Reaches peers: everything that dials, and everything that closes a connection for want of room, goes through here. */
export class Reach {
  readonly #init: ReachInit
  readonly #parts: ReachComponents
  readonly #log: Logger
  readonly #machines: Machines
  readonly #waiting = new Map<string, Waiting>()
  /** Peers that are being forgotten: what happens to their connections means nothing. */
  readonly #leaving = new Set<string>()
  readonly #stops: (() => void)[] = []
  #reservations: RelayReservations | undefined
  #canUpgrade = false
  #isStopped = false
  #cancelWake: (() => void) | undefined
  #wakeAt = Number.POSITIVE_INFINITY

  constructor(init: ReachInit, components: ReachComponents) {
    this.#init = init
    this.#parts = components
    this.#log = components.logger.child('reach')
    this.#machines = new Machines({
      self: init.self,
      seed: () => Math.floor(components.random.float() * 2 ** 32),
      onChange: (before, after) => this.#logChange(before, after),
    })
    this.#listen()
  }

  found(way: DiscoveryMethod, find: Find): void {
    way.found(find.peer)
    const { rules, book } = this.#parts
    const addresses = find.addresses.filter((address) => !rules.isBlocked(address))
    if (addresses.length > 0) {
      book.noteFound(find.peer, addresses)
      this.#take(find.peer, {
        type: 'found',
        kind: find.kind ?? 'found',
        addresses: addresses.map(toPeerAddress),
        source: way.name,
        from: find.from ?? way.name,
      })
    } else if (find.addresses.length > 0)
      this.#init.onError(find.peer, new Error('every address lies in a range that is kept out'))
  }

  /** A person says where the peer is. */
  learn(peer: string, address: Multiaddr): void {
    this.#parts.book.noteFound(peer, [address])
    const addresses = [toPeerAddress(address)]
    this.#take(peer, { type: 'found', kind: 'found', addresses, from: 'person' })
  }

  /** Closes the peer's connections, ends its dials, and keeps nothing of it. Who waits for the peer is told so. */
  async forget(peer: string): Promise<void> {
    const { host, dials } = this.#parts
    this.#leaving.add(peer)
    try {
      for (const route of ROUTES) dials.abandon(peer, route)
      this.#waiting.get(peer)?.reject(new Error('the peer was forgotten'))
      this.#waiting.delete(peer)
      await Promise.all(
        allConnectionsTo(host, peer).map((connection) =>
          connection.close().catch((error: unknown) => connection.abort(toError(error))),
        ),
      )
      this.#machines.forget(peer)
    } finally {
      this.#leaving.delete(peer)
    }
    // it came back meanwhile
    if (allConnectionsTo(host, peer).length > 0) this.#look(peer)
  }

  /**
   * A connection now, wherever the peer was ever heard of to be; a second try follows a first that failed. Resolves
   * when one stands, direct or relayed.
   */
  connect(peer: string, signal: AbortSignal): Promise<void> {
    if (this.#isStopped) return Promise.reject(new Error('stopped'))
    if (peer === this.#init.self) return Promise.reject(new Error('this is the node itself'))
    const waiting = this.#waiting.get(peer) ?? this.#startWaiting(peer)
    this.#look(peer)
    this.#take(peer, { type: 'demand' })
    // what others wait for too goes on
    return untilAborted(waiting.promise, signal)
  }

  /** Makes relayed connections direct from now on: WebRTC is there. */
  startUpgrades(): void {
    this.#canUpgrade = true
    this.#wake(this.#now())
  }

  /** Keeps reservations at members that relay from now on. */
  startReserving(reservations: RelayReservations): void {
    this.#reservations = reservations
    for (const { peer } of this.#machines.all()) this.#lookAtOffer(peer)
  }

  /** Peers on which a reservation stands. */
  relays(): readonly string[] {
    return this.#reservations?.relays() ?? []
  }

  /** Describes one peer in one line: what is known, tried and next; undefined when nothing is known of it. */
  describe(peer: string): string | undefined {
    const state = this.#machines.get(peer)
    return state === undefined ? undefined : describeReach(state, this.#now())
  }

  /** The ways of discovery that found the peer, and `incoming` when the peer dialled first. */
  foundBy(peer: string): readonly string[] {
    const { sources = [], incoming = false } = this.#machines.get(peer) ?? {}
    return incoming ? [...sources, 'incoming'] : sources
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const stop of this.#stops) stop()
    this.#cancelTimer()
    this.#parts.dials.stop()
    for (const { reject } of this.#waiting.values()) reject(new Error('stopped'))
    this.#waiting.clear()
  }

  #now(): number {
    return this.#parts.clock.monotonic()
  }

  // Events in

  #listen(): void {
    const { host, membership, spoken, checks } = this.#parts
    const onOpen = ({ detail }: CustomEvent<Connection>) => this.#look(detail.remotePeer.toString(), detail)
    const onClose = ({ detail }: CustomEvent<Connection>) => this.#look(detail.remotePeer.toString())
    host.addEventListener('connection:open', onOpen)
    host.addEventListener('connection:close', onClose)
    this.#stops.push(
      () => host.removeEventListener('connection:open', onOpen),
      () => host.removeEventListener('connection:close', onClose),
      checks.onDoubt(({ remotePeer }) => this.#look(remotePeer.toString())),
      spoken.onChange((peer) => this.#lookAtOffer(peer)),
      membership.onMember((peer) => this.#lookAtOffer(peer)),
      membership.onChange((peer, proven) => {
        this.#take(peer, { type: 'membership', proven })
        this.#lookAtOffer(peer)
      }),
    )
  }

  /** Tells the peer's machine which connections stand now. */
  #look(peer: string, opened?: Connection): void {
    const { host, membership, book } = this.#parts
    const open = new Set(connectionsTo(host, peer))
    if (opened?.status === 'open') open.add(opened)
    const connections = [...open].map(seeConnection)
    const isMissed = connections.length === 0 && (membership.isMember(peer) || this.#init.isConfigured(peer))
    const missed = isMissed ? { missedAt: book.addressesOf(peer).map(toPeerAddress) } : {}
    const from = opened === undefined ? {} : { from: addressGroupOf(opened) }
    this.#take(peer, { type: 'connections', connections, ...missed, ...from })
    this.#lookAtOffer(peer)
  }

  /** Tells the peer's machine whether the peer could relay for this node. */
  #lookAtOffer(peer: string): void {
    const reservations = this.#reservations
    if (reservations === undefined || this.#machines.get(peer) === undefined) return
    const { host, membership, spoken } = this.#parts
    const offered =
      membership.isMember(peer) &&
      spoken.speaks(peer, RELAY_HOP) &&
      connectionsTo(host, peer).some((connection) => reservations.isUsable(connection))
    this.#take(peer, { type: 'relayOffer', offered })
  }

  #take(peer: string, input: PeerInput): void {
    if (this.#isStopped || this.#leaving.has(peer)) return
    const now = this.#now()
    this.#carryOut(this.#machines.take(peer, input, now))
    this.#wake(now)
  }

  // Waking

  #wake(at: number): void {
    if (this.#isStopped || at >= this.#wakeAt) return
    this.#cancelTimer()
    this.#wakeAt = at
    const keepAlive = this.#waiting.size > 0
    this.#cancelWake = this.#parts.clock.after(Math.max(0, at - this.#now()), () => this.#run(), {
      keepAlive,
    })
  }

  #cancelTimer(): void {
    this.#cancelWake?.()
    this.#cancelWake = undefined
    this.#wakeAt = Number.POSITIVE_INFINITY
  }

  /** Lets time pass and plans. */
  #run(): void {
    this.#cancelTimer()
    // whether a relayed connection is used decides if it may close, and streams come and go without an event
    for (const { peer, relayed } of this.#machines.all()) if (relayed !== undefined) this.#look(peer)
    const now = this.#now()
    this.#carryOut(this.#machines.tick(now))
    const { effects, wakeAt } = this.#machines.plan(
      {
        surroundings: this.#surroundings(),
        usable: (state, purpose) =>
          this.#parts.dials.usable(purpose === 'search' ? state.addresses : this.#heardOf(state.peer)),
      },
      now,
    )
    this.#cancelTimer()
    this.#carryOut(effects)
    if (wakeAt < Number.POSITIVE_INFINITY) this.#wake(wakeAt)
  }

  #heardOf(peer: string) {
    return this.#parts.book.addressesOf(peer).map(toPeerAddress)
  }

  #surroundings(): Surroundings {
    const { membership } = this.#parts
    return {
      canUpgrade: this.#canUpgrade,
      reservations: this.#reservations?.relays(),
      isMember: (peer) => membership.isMember(peer),
      mayTalk: this.#init.mayTalk ?? (() => true),
      maxConnections: this.#init.maxConnections ?? MAX_CONNECTIONS,
    }
  }

  // Effects out

  #carryOut(effects: readonly MachineEffect[]): void {
    for (const { peer, effect } of effects) this.#carryOutOne(peer, effect)
  }

  #carryOutOne(peer: string, effect: PeerEffect): void {
    const { dials, book } = this.#parts
    switch (effect.type) {
      case 'dial':
        return this.#follow(
          peer,
          effect,
          dials.dial(peer, { ...effect, isAskedFor: this.#isAskedFor(peer, effect.route) }),
        )
      case 'dialWebRtc':
        return this.#follow(peer, { ...effect, route: 'webrtc' }, dials.dialWebRtc(peer, effect.relayAt))
      case 'abandon':
        return dials.abandon(peer, effect.route)
      case 'close':
        return this.#close(peer, effect.connection, effect.why)
      case 'abort':
        this.#connection(peer, effect.connection)?.abort(new Error(effect.why))
        return
      case 'reserve':
        return this.#reserve(peer)
      case 'protect':
        return this.#protect(peer, effect.ttlMs)
      case 'answer':
        return this.#answer(peer, effect.connected)
      case 'searchFailed':
        this.#log.debug('dial failed', { peer, failures: effect.failures, reason: effect.error })
        return this.#init.onError(peer, new Error(effect.error))
      case 'upgradeFailed':
        return book.noteError(peer, effect.error)
      case 'relayedOutcome':
    }
  }

  /** A person named the peer, or somebody waits for this dial. */
  #isAskedFor(peer: string, route: Route): boolean {
    const state = this.#machines.get(peer)
    return state?.configured === true || state?.dials[route]?.purposes.includes('demand') === true
  }

  #follow(
    peer: string,
    { route, attempt }: { readonly route: Route; readonly attempt: number },
    dial: Promise<unknown>,
  ): void {
    dial.then(
      () => {
        if (this.#isStopped) return
        this.#look(peer)
        this.#take(peer, { type: 'dialled', route, attempt })
      },
      (error: unknown) => {
        const errors = this.#waiting.get(peer)?.errors
        if (errors !== undefined && errors.length < MAX_KEPT_ERRORS) errors.push(error)
        this.#take(peer, { type: 'dialled', route, attempt, error: describeDialError(error) })
      },
    )
  }

  #connection(peer: string, id: string): Connection | undefined {
    return this.#parts.host
      .getConnections()
      .find((connection) => connection.id === id && connection.remotePeer.toString() === peer)
  }

  #close(peer: string, id: string, why: string): void {
    const connection = this.#connection(peer, id)
    if (connection === undefined) return
    this.#log.debug('connection closes', { peer, reason: why })
    connection.close().catch((error: unknown) => connection.abort(toError(error)))
  }

  #reserve(peer: string): void {
    this.#reservations?.reserve(peer).then(
      () => {
        this.#log.debug('relay reserved', { peer })
        this.#take(peer, { type: 'reserved', ok: true })
      },
      (error: unknown) => {
        this.#log.debug('relay not reserved', { peer, reason: String(error) })
        this.#take(peer, { type: 'reserved', ok: false })
      },
    )
  }

  #protect(peer: string, ttlMs: number | undefined): void {
    const tag = { value: MEMBER_WORTH, ...(ttlMs === undefined ? {} : { ttl: ttlMs }) }
    this.#parts.host.peerStore
      .merge(peerIdFromString(peer), { tags: { [MEMBER_TAG]: tag } })
      .catch((error: unknown) => this.#log.debug('member not tagged', { peer, reason: String(error) }))
  }

  #startWaiting(peer: string): Waiting {
    const waiting = { ...Promise.withResolvers<void>(), errors: [] }
    // whoever waited may be gone when it fails
    waiting.promise.catch(() => {})
    this.#waiting.set(peer, waiting)
    return waiting
  }

  #answer(peer: string, connected: boolean): void {
    const waiting = this.#waiting.get(peer)
    this.#waiting.delete(peer)
    if (waiting === undefined) return
    if (connected) waiting.resolve()
    else if (waiting.errors.length === 0) waiting.reject(new Error('no address that this node can dial'))
    else waiting.reject(new AggregateError(waiting.errors, 'no address answered'))
  }

  #logChange(before: PeerState | undefined, after: PeerState): void {
    if (before !== undefined && reachPhase(before) === reachPhase(after)) return
    this.#log.debug('reach changed', { peer: after.peer, reach: describeReach(after, this.#now()) })
  }
}
