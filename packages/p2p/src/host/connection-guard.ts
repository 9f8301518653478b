/**
 * Keeps room for members.
 *
 * 1. Unproven connections have bounds of their own (`eviction.ts`).
 * 2. A peer that was evicted twice waits before it comes back.
 */
import type { Connection, Libp2p, MultiaddrConnection } from '@libp2p/interface'
import { BoundedMap, type Clock, type Logger } from '@mesh/core'
import { backoffMs, endOfTurn, type Place, Scope } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import {
  LEAST_UNPROVEN_CONNECTIONS,
  MAX_UNPROVEN_CONNECTIONS,
  RETURN_DELAY,
  UNPROVEN_PART,
} from './limits.ts'
import { MAX_CONNECTIONS, MAX_KNOWN_PEERS, PENDING_INBOUND } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import {
  boundChannelMessages,
  createChannelMessageRate,
  type TakeMessage,
} from '../upstream/webrtc/connections.ts'
import { boundAnswers } from '../libp2p/negotiation-answers.ts'
import { boundStreams } from '../upstream/libp2p/bound-streams.ts'
import { chooseSurplus, type ConnectionBounds, type OpenConnection } from './eviction.ts'

interface GuardInit {
  readonly isConfigured: (peer: string) => boolean
  readonly maxConnections?: number | undefined
  /** Called for each connection that had to make way. */
  readonly onClosed: (peer: string) => void
}

interface GuardedHost {
  readonly host: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>
  readonly membership: Pick<Membership, 'isMember' | 'onMember'>
  /** Bounds what waits on all streams that nobody reads. */
  readonly unread: Scope
}

/** How often a peer had to make way, and until when it waits. */
interface Strikes {
  readonly count: number
  readonly until: number
}

export class ConnectionGuard {
  readonly bounds: ConnectionBounds
  readonly #init: GuardInit
  readonly #clock: Clock
  readonly #log: Logger
  readonly #pending = new Scope(PENDING_INBOUND)
  readonly #places = new WeakMap<MultiaddrConnection, Place>()
  /** Those whose handshake is done. */
  readonly #upgraded = new WeakSet<MultiaddrConnection>()
  readonly #openedAt = new WeakMap<Connection, number>()
  /** The peers that this node dials because they asked for it, with how many such dials there are. */
  readonly #dialledFor = new Map<string, number>()
  /** The connections that came of them. */
  readonly #askedFor = new WeakSet<Connection>()
  /** The times since when peers are known as members. */
  readonly #knownSince = new BoundedMap<string, number>(4 * MAX_KNOWN_PEERS)
  readonly #strikes = new BoundedMap<string, Strikes>(4 * MAX_KNOWN_PEERS)
  readonly #takeMessage: TakeMessage
  #guarded: GuardedHost | undefined
  #isLookDue = false
  #stopMembership = () => {}

  constructor(init: GuardInit, components: { readonly clock: Clock; readonly logger: Logger }) {
    const { maxConnections = MAX_CONNECTIONS } = init
    this.#init = init
    this.#clock = components.clock
    this.#takeMessage = createChannelMessageRate(components.clock)
    this.#log = components.logger.child('connections')
    const part = Math.floor(maxConnections * UNPROVEN_PART)
    this.bounds = {
      maxConnections,
      maxUnproven: Math.min(MAX_UNPROVEN_CONNECTIONS, Math.max(LEAST_UNPROVEN_CONNECTIONS, part)),
    }
  }

  start(guarded: GuardedHost): void {
    this.#guarded = guarded
    guarded.host.addEventListener('connection:open', this.#onOpen)
    this.#stopMembership = guarded.membership.onMember((peer) => {
      if (!this.#knownSince.has(peer)) this.#knownSince.set(peer, this.#clock.monotonic())
      this.#closeSurplusSoon()
    })
  }

  stop(): void {
    this.#guarded?.host.removeEventListener('connection:open', this.#onOpen)
    this.#stopMembership()
    this.#guarded = undefined
  }

  /** A connection came in, and nothing is known of its peer. False: it has no place. */
  accepted(raw: MultiaddrConnection): boolean {
    const end = (reason: Error) => raw.abort(reason)
    const place = this.#pending.reserve({ address: addressGroupOf(raw), end })
    if (place === undefined) return false
    this.#places.set(raw, place)
    raw.addEventListener('close', () => place.release(), { once: true })
    boundAnswers(raw, () => this.#upgraded.has(raw))
    return true
  }

  /** Its handshake is done, and its peer is known. */
  upgraded(raw: MultiaddrConnection): void {
    this.#places.get(raw)?.release()
    this.#upgraded.add(raw)
  }

  /** Does what dials a peer that asked for it: a connection that it opens counts as if the peer had opened it. */
  async dialFor<T>(peer: string, dial: () => Promise<T>): Promise<T> {
    this.#dialledFor.set(peer, (this.#dialledFor.get(peer) ?? 0) + 1)
    try {
      return await dial()
    } finally {
      const left = (this.#dialledFor.get(peer) ?? 1) - 1
      if (left > 0) this.#dialledFor.set(peer, left)
      else this.#dialledFor.delete(peer)
    }
  }

  /** The peer had to make way several times, and is back too soon. */
  isTooSoon(peer: string): boolean {
    const strikes = this.#strikes.get(peer)
    if (strikes === undefined || strikes.until <= this.#clock.monotonic()) return false
    return !this.#isMember(peer) || strikes.count > 2
  }

  readonly #onOpen = ({ detail }: CustomEvent<Connection>): void => {
    this.#openedAt.set(detail, this.#clock.monotonic())
    const peer = detail.remotePeer.toString()
    if (this.#dialledFor.has(peer)) this.#askedFor.add(detail)
    if (this.#guarded === undefined) return
    const { unread } = this.#guarded
    const isTrusted = () => this.#isMember(peer)
    boundStreams(detail, { peer, address: addressGroupOf(detail), isTrusted, unread })
    boundChannelMessages(detail, { isTrusted, takeMessage: this.#takeMessage })
    this.#closeSurplusSoon()
  }

  /** All are looked at once in a turn of the event loop, however many open or prove themselves in it. */
  #closeSurplusSoon(): void {
    if (this.#isLookDue) return
    this.#isLookDue = true
    endOfTurn(() => {
      this.#isLookDue = false
      this.#closeSurplus()
    })
  }

  #closeSurplus(): void {
    if (this.#guarded === undefined) return
    const open = this.#guarded.host.getConnections()
    const { maxConnections, maxUnproven } = this.bounds
    if (open.length <= Math.min(maxConnections, maxUnproven / 2)) return
    const connections = new Map(open.map((connection) => [connection.id, connection]))
    const seen = open.map((connection) => this.#see(connection))
    for (const { id, peer, isMember } of chooseSurplus(seen, this.bounds, this.#clock.monotonic())) {
      this.#strike(peer)
      this.#init.onClosed(peer)
      this.#log.debug('connection makes way', { peer, isMember })
      connections.get(id)?.abort(new Error('too many connections'))
    }
  }

  #see(connection: Connection): OpenConnection {
    const peer = connection.remotePeer.toString()
    const now = this.#clock.monotonic()
    return {
      id: connection.id,
      peer,
      address: addressGroupOf(connection),
      isOurs: this.#isOurs(connection) || this.#init.isConfigured(peer),
      isMember: this.#isMember(peer),
      openedAt: this.#openedAt.get(connection) ?? now,
      knownSince: this.#knownSince.get(peer) ?? now,
    }
  }

  #isOurs(connection: Connection): boolean {
    return connection.direction === 'outbound' && !this.#askedFor.has(connection)
  }

  /** The first time costs nothing: a member may have been slow to prove itself. */
  #strike(peer: string): void {
    const now = this.#clock.monotonic()
    const count = (this.#strikes.get(peer)?.count ?? 0) + 1
    const waitMs = count < 2 ? 0 : backoffMs(RETURN_DELAY, count - 2)
    this.#strikes.set(peer, { count, until: now + waitMs })
  }

  #isMember(peer: string): boolean {
    return this.#guarded?.membership.isMember(peer) === true
  }
}
