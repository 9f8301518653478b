/**
 * Who belongs to the network. libp2p proves who a peer is; here it proves, once for each connection, that it holds
 * the network's key. The side that dialled begins, as soon as identify says that the other speaks the protocol.
 */
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { type Clock, type Logger, type PeerId, type Random, withDeadline } from '@mesh/core'
import type { NetworkConfig } from '@mesh/network'
import { MEMBER_HANDSHAKE_MS } from '../limits.ts'
import { DIALLED_SIDE_WAITS_MS, HANDSHAKE_RETRY_MS, MAX_HANDSHAKES_PER_CONNECTION } from './limits.ts'
import type { Admission } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { deriveMemberKey } from './handshake.ts'
import { type Outcome, proveAsInitiator, proveAsResponder } from './prove.ts'
import { ProvenPeers } from './proven-peers.ts'
import { type ConnectionStanding, WatchedConnection } from './watched-connection.ts'

export interface Membership
  extends Pick<
    ProvenPeers,
    | 'isMember'
    | 'isProven'
    | 'members'
    | 'onChange'
    | 'onMember'
    | 'mayUse'
    | 'ungated'
    | 'admissionChanged'
    | 'noteAuthor'
  > {
  start(): Promise<void>
  stop(): Promise<void>
  standing(connection: Connection): ConnectionStanding
  /** Begins a handshake unless one runs or is done; resolves false when it failed or the signal aborted. */
  prove(connection: Connection, signal: AbortSignal): Promise<boolean>
  /** Waits for the other side's handshake. */
  whenProven(connection: Connection, signal: AbortSignal): Promise<boolean>
}

interface MembershipComponents {
  readonly libp2p: Libp2p
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly random: Random
  readonly refusals: Refusals
  readonly logger: Logger
}

interface MembershipInit {
  readonly config: NetworkConfig
  readonly self: PeerId
  /** Who of those with the network's key may use it; everybody by default. */
  readonly admission?: Pick<Admission, 'mayUse'> | undefined
}

/** Creates the membership of one node; it looks at no connection before `start`. */
export function createMembership(init: MembershipInit, components: MembershipComponents): Membership {
  return new ProvenMembership(init, components)
}

class ProvenMembership extends ProvenPeers implements Membership {
  readonly #self: PeerId
  readonly #memberKey: Uint8Array
  readonly #components: MembershipComponents
  readonly #log: Logger
  readonly #watched = new Map<string, WatchedConnection>()
  #stopSpoken = () => {}

  constructor({ config, self, admission }: MembershipInit, components: MembershipComponents) {
    super({
      clock: components.clock,
      mayUse: (peer) => admission?.mayUse(peer) ?? true,
      mayOnlyProve: (peer) => components.spoken.speaks(peer, MEMBER_PROTOCOL),
    })
    this.#self = self
    this.#memberKey = deriveMemberKey(config)
    this.#components = components
    this.#log = components.logger.child('membership')
  }

  async start(): Promise<void> {
    const { libp2p, spoken } = this.#components
    libp2p.addEventListener('connection:open', this.#onOpen)
    libp2p.addEventListener('connection:close', this.#onClose)
    this.#stopSpoken = spoken.onChange(this.#onSpoken)
    const options = { runOnLimitedConnection: true, maxInboundStreams: 4 }
    await libp2p.handle(MEMBER_PROTOCOL, (stream, connection) => this.#answer(stream, connection), options)
    for (const connection of libp2p.getConnections()) {
      this.#watch(connection)
      this.#onSpoken(connection.remotePeer.toString())
    }
  }

  async stop(): Promise<void> {
    const { libp2p } = this.#components
    libp2p.removeEventListener('connection:open', this.#onOpen)
    libp2p.removeEventListener('connection:close', this.#onClose)
    this.#stopSpoken()
    await libp2p.unhandle(MEMBER_PROTOCOL)
    for (const watched of this.#watched.values()) {
      watched.cancelRetry()
      watched.wake()
    }
    this.#watched.clear()
    this.clear()
  }

  standing(connection: Connection): ConnectionStanding {
    return this.#watched.get(connection.id)?.standing ?? 'unproven'
  }

  async prove(connection: Connection, signal: AbortSignal): Promise<boolean> {
    const watched = this.#watch(connection)
    if (watched.standing !== 'unproven') return watched.standing === 'proven'
    watched.cancelRetry()
    const ended = new AbortController()
    void this.#run(watched).then(() => ended.abort())
    return await watched.whenDecided(AbortSignal.any([signal, ended.signal]))
  }

  whenProven(connection: Connection, signal: AbortSignal): Promise<boolean> {
    return this.#watch(connection).whenDecided(signal)
  }

  // handshakes

  /** Begins by ourselves, and again while nobody answers; the dialled side leaves the other some time. */
  #schedule(watched: WatchedConnection, attempt: number): void {
    const { connection } = watched
    if (!this.#components.spoken.speaks(connection.remotePeer.toString(), MEMBER_PROTOCOL)) return
    const first = connection.direction === 'outbound' ? 0 : DIALLED_SIDE_WAITS_MS
    const waitMs = attempt > 0 ? HANDSHAKE_RETRY_MS[attempt - 1] : first
    if (waitMs === undefined) return
    watched.cancelRetry()
    watched.cancelRetry = this.#components.clock.after(waitMs, () => {
      if (watched.standing !== 'unproven' || connection.status !== 'open') return
      void this.#run(watched).then(() => {
        if (watched.standing === 'unproven') this.#schedule(watched, attempt + 1)
      })
    })
  }

  #run(watched: WatchedConnection): Promise<Outcome> {
    watched.running ??= this.#begin(watched).finally(() => {
      watched.running = undefined
    })
    return watched.running
  }

  async #begin(watched: WatchedConnection): Promise<Outcome> {
    const { connection, peer } = watched
    if (peer === undefined || watched.begun >= MAX_HANDSHAKES_PER_CONNECTION) return 'broken'
    watched.begun++
    let outcome: Outcome = 'broken'
    try {
      outcome = await this.#inTime(async (signal) => {
        const options = { signal, runOnLimitedConnection: true }
        const stream = await connection.newStream([MEMBER_PROTOCOL], options)
        return await resetWith(signal, stream, () => proveAsInitiator(this.#handshakeOn(stream, peer)))
      })
    } catch (error) {
      this.#log.debug('member handshake could not begin', { peer, error: String(error) })
    }
    // the other side's handshake may have been quicker
    if (outcome === 'proven' || watched.standing === 'unproven') this.#conclude(watched, outcome)
    return outcome
  }

  async #answer(stream: Stream, connection: Connection): Promise<void> {
    const watched = this.#watch(connection)
    const { peer } = watched
    if (peer === undefined || watched.answered >= MAX_HANDSHAKES_PER_CONNECTION) {
      const from = { peer: connection.remotePeer.toString(), protocol: MEMBER_PROTOCOL }
      this.#components.refusals.refuse('member.too_many', from)
      return stream.abort(new Error('too many member handshakes'))
    }
    watched.answered++
    const outcome = await this.#inTime((signal) =>
      resetWith(signal, stream, () => proveAsResponder(this.#handshakeOn(stream, peer))),
    )
    this.#conclude(watched, outcome)
  }

  #handshakeOn(stream: Stream, remote: PeerId) {
    const { random } = this.#components
    return { stream, self: this.#self, remote, memberKey: this.#memberKey, random }
  }

  #inTime(handshake: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    const reason = () => new Error('member handshake: out of time')
    const { clock } = this.#components
    return withDeadline({ clock, ms: MEMBER_HANDSHAKE_MS, isPatient: true, reason }, handshake)
  }

  /** Counts what went wrong and tells who waits. */
  #conclude(watched: WatchedConnection, outcome: Outcome): void {
    if (outcome === 'proven') return this.#decide(watched, 'proven')
    const { refusals } = this.#components
    const from = { peer: watched.connection.remotePeer.toString(), protocol: MEMBER_PROTOCOL }
    this.#log.debug('member handshake failed', { peer: from.peer, outcome })
    if (outcome === 'bad proof') {
      refusals.refuse('member.bad_proof', from)
      this.#decide(watched, 'refused')
    } else if (outcome === 'malformed') refusals.refuse('member.malformed', from)
    else if (watched.connection.status === 'open') refusals.refuse('member.unfinished', from)
  }

  /** Sets what is known of a connection; a proof is never taken back. */
  #decide(watched: WatchedConnection, standing: ConnectionStanding): void {
    const { peer } = watched
    if (peer === undefined || watched.standing === standing || watched.standing === 'proven') return
    watched.standing = standing
    watched.cancelRetry()
    watched.wake()
    if (standing !== 'proven') return
    this.#log.debug('peer proved membership', { peer })
    if (this.#watched.has(watched.connection.id)) this.count(peer, 1)
  }

  // connections

  #watch(connection: Connection): WatchedConnection {
    const known = this.#watched.get(connection.id)
    if (known !== undefined) return known
    const watched = new WatchedConnection(connection)
    if (connection.status === 'open') this.#watched.set(connection.id, watched)
    return watched
  }

  readonly #onOpen = ({ detail }: CustomEvent<Connection>): void => {
    this.#watch(detail)
  }

  readonly #onClose = ({ detail }: CustomEvent<Connection>): void => {
    const watched = this.#watched.get(detail.id)
    if (watched === undefined) return
    this.#watched.delete(detail.id)
    watched.cancelRetry()
    watched.wake()
    if (watched.peer !== undefined && watched.standing === 'proven') this.count(watched.peer, -1)
  }

  readonly #onSpoken = (peer: string): void => {
    for (const watched of this.#watched.values()) {
      if (watched.peer !== peer || watched.standing !== 'unproven' || watched.begun > 0) continue
      this.#schedule(watched, 0)
    }
  }
}

/** Runs a handshake; when the signal aborts the stream is reset, which ends it. */
async function resetWith(
  signal: AbortSignal,
  stream: Stream,
  handshake: () => Promise<Outcome>,
): Promise<Outcome> {
  const onAbort = () => stream.abort(new Error('member handshake: out of time'))
  signal.addEventListener('abort', onAbort, { once: true })
  const outcome = await handshake()
  signal.removeEventListener('abort', onAbort)
  return outcome
}
