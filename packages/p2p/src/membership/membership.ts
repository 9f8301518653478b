/**
 * Who belongs to the network. libp2p proves who a peer is; here it proves, once for each connection, that it holds
 * the network's key. The side that dialled begins, as soon as identify says that the other speaks the protocol.
 */
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { type Clock, type Logger, type PeerId, type Random, tryParsePeerId } from '@mesh/core'
import type { NetworkConfig } from '@mesh/network'
import {
  DIALLED_SIDE_WAITS_MS,
  HANDSHAKE_RETRY_MS,
  MAX_HANDSHAKES_PER_CONNECTION,
  MEMBER_HANDSHAKE_MS,
} from '../limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { deriveMemberKey } from './handshake.ts'
import { createHeardMembers } from './heard-members.ts'
import { type Outcome, proveAsInitiator, proveAsResponder } from './prove.ts'

/** What is known of one connection: `refused` is final, since the other side showed another key. */
type ConnectionStanding = 'unproven' | 'proven' | 'refused'

export interface Membership {
  start(): Promise<void>
  stop(): Promise<void>
  standing(connection: Connection): ConnectionStanding
  /** True when the peer proved itself on a live connection, or did so or authored a sealed message lately. */
  isMember(peer: string): boolean
  /** True when the peer proved itself on a connection that is open now. */
  isProven(peer: string): boolean
  /** Proven and connected. */
  members(): readonly PeerId[]
  onChange(listener: (peer: PeerId, proven: boolean) => void): () => void
  /** Tells each peer that becomes a member: by proof, or by what it authored, however long it has been connected. */
  onMember(listener: (peer: PeerId) => void): () => void
  /** Begins a handshake unless one runs or is done; resolves false when it failed or the signal aborted. */
  prove(connection: Connection, signal: AbortSignal): Promise<boolean>
  /** Waits for the other side's handshake. */
  whenProven(connection: Connection, signal: AbortSignal): Promise<boolean>
  /** `peer` authored a message that could be unsealed: it holds the key, however old its software is. */
  noteAuthor(peer: PeerId): void
}

export interface MembershipComponents {
  readonly libp2p: Libp2p
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly random: Random
  readonly refusals: Refusals
  readonly logger: Logger
}

interface Watched {
  readonly connection: Connection
  /** Undefined for ids that are no Ed25519 key: those can never be members. */
  readonly peer: PeerId | undefined
  standing: ConnectionStanding
  begun: number
  answered: number
  running: Promise<Outcome> | undefined
  cancelRetry: () => void
  readonly waiting: Set<() => void>
}

export function createMembership(
  init: { readonly config: NetworkConfig; readonly self: PeerId },
  components: MembershipComponents,
): Membership {
  const { self } = init
  const { libp2p, spoken, clock, random, refusals } = components
  const log = components.logger.child('membership')
  const memberKey = deriveMemberKey(init.config)
  const watchedById = new Map<string, Watched>()
  const listeners = new Set<(peer: PeerId, proven: boolean) => void>()
  const memberListeners = new Set<(peer: PeerId) => void>()
  const heard = createHeardMembers(clock)
  let stopSpoken = () => {}

  function watch(connection: Connection): Watched {
    const known = watchedById.get(connection.id)
    if (known !== undefined) return known
    const watched: Watched = {
      connection,
      peer: tryParsePeerId(connection.remotePeer.toString()),
      standing: 'unproven',
      begun: 0,
      answered: 0,
      running: undefined,
      cancelRetry: () => {},
      waiting: new Set(),
    }
    if (connection.status === 'open') watchedById.set(connection.id, watched)
    return watched
  }

  /** Proven connections that are open, by peer. */
  const provenCount = new Map<PeerId, number>()
  const isProven = (peer: string) => provenCount.has(peer as PeerId)

  function noteMember(peer: PeerId): void {
    if (!heard.note(peer)) return
    for (const listener of memberListeners) listener(peer)
  }

  function count(peer: PeerId, change: 1 | -1): void {
    const before = provenCount.get(peer) ?? 0
    const now = before + change
    if (now === 0) provenCount.delete(peer)
    else provenCount.set(peer, now)
    noteMember(peer)
    if (before !== 0 && now !== 0) return
    for (const listener of listeners) listener(peer, now !== 0)
  }

  function settle(watched: Watched, standing: ConnectionStanding): void {
    const { peer } = watched
    if (peer === undefined || watched.standing === standing || watched.standing === 'proven') return
    watched.standing = standing
    watched.cancelRetry()
    for (const wake of watched.waiting) wake()
    if (standing !== 'proven') return
    log.debug('peer proved membership', { peer })
    if (watchedById.has(watched.connection.id)) count(peer, 1)
  }

  /** Counts what went wrong and tells who waits. */
  function conclude(watched: Watched, outcome: Outcome): void {
    if (outcome === 'proven') return settle(watched, 'proven')
    const from = { peer: watched.connection.remotePeer.toString(), protocol: MEMBER_PROTOCOL }
    log.debug('member handshake failed', { peer: from.peer, outcome })
    if (outcome === 'bad proof') {
      refusals.refuse('member.bad_proof', from)
      settle(watched, 'refused')
    } else if (outcome === 'malformed') refusals.refuse('member.malformed', from)
    else if (watched.connection.status === 'open') refusals.refuse('member.unfinished', from)
  }

  async function begin(watched: Watched): Promise<Outcome> {
    const { connection, peer } = watched
    if (peer === undefined || watched.begun >= MAX_HANDSHAKES_PER_CONNECTION) return 'broken'
    watched.begun++
    const limit = abortAfter(clock, MEMBER_HANDSHAKE_MS)
    let outcome: Outcome = 'broken'
    try {
      const options = { signal: limit.signal, runOnLimitedConnection: true }
      const stream = await connection.newStream([MEMBER_PROTOCOL], options)
      outcome = await within(limit.signal, stream, () =>
        proveAsInitiator({ stream, self, remote: peer, memberKey, random }),
      )
    } catch (error) {
      log.debug('member handshake could not begin', { peer, error: String(error) })
    }
    limit.cancel()
    // the other side's handshake may have been quicker
    if (outcome === 'proven' || watched.standing === 'unproven') conclude(watched, outcome)
    return outcome
  }

  function run(watched: Watched): Promise<Outcome> {
    watched.running ??= begin(watched).finally(() => {
      watched.running = undefined
    })
    return watched.running
  }

  /** Begins by ourselves, and again while nobody answers; the dialled side leaves the other some time. */
  function schedule(watched: Watched, attempt: number): void {
    if (!spoken.speaks(watched.connection.remotePeer.toString(), MEMBER_PROTOCOL)) return
    const retry = HANDSHAKE_RETRY_MS[attempt - 1]
    const wait = attempt > 0 ? retry : watched.connection.direction === 'outbound' ? 0 : DIALLED_SIDE_WAITS_MS
    if (wait === undefined) return
    watched.cancelRetry()
    watched.cancelRetry = clock.after(wait, () => {
      if (watched.standing !== 'unproven' || watched.connection.status !== 'open') return
      void run(watched).then(() => {
        if (watched.standing === 'unproven') schedule(watched, attempt + 1)
      })
    })
  }

  async function answer(stream: Stream, connection: Connection): Promise<void> {
    const watched = watch(connection)
    const { peer } = watched
    const from = { peer: connection.remotePeer.toString(), protocol: MEMBER_PROTOCOL }
    if (peer === undefined || watched.answered >= MAX_HANDSHAKES_PER_CONNECTION) {
      refusals.refuse('member.too_many', from)
      return stream.abort(new Error('too many member handshakes'))
    }
    watched.answered++
    const limit = abortAfter(clock, MEMBER_HANDSHAKE_MS)
    const outcome = await within(limit.signal, stream, () =>
      proveAsResponder({ stream, self, remote: peer, memberKey, random }),
    )
    limit.cancel()
    conclude(watched, outcome)
  }

  const onOpen = ({ detail }: CustomEvent<Connection>) => watch(detail)
  const onClose = ({ detail }: CustomEvent<Connection>) => {
    const watched = watchedById.get(detail.id)
    if (watched === undefined) return
    watchedById.delete(detail.id)
    watched.cancelRetry()
    for (const wake of watched.waiting) wake()
    if (watched.peer !== undefined && watched.standing === 'proven') count(watched.peer, -1)
  }
  const onSpoken = (peer: string) => {
    for (const watched of watchedById.values()) {
      if (watched.peer === peer && watched.standing === 'unproven' && watched.begun === 0)
        schedule(watched, 0)
    }
  }

  const whenProven = (connection: Connection, signal: AbortSignal): Promise<boolean> => {
    const watched = watch(connection)
    return new Promise((resolve) => {
      const check = () => {
        const open = connection.status === 'open' && !signal.aborted
        if (watched.standing === 'unproven' && open) return
        watched.waiting.delete(check)
        signal.removeEventListener('abort', check)
        resolve(watched.standing === 'proven')
      }
      watched.waiting.add(check)
      signal.addEventListener('abort', check)
      check()
    })
  }

  return {
    async start() {
      libp2p.addEventListener('connection:open', onOpen)
      libp2p.addEventListener('connection:close', onClose)
      stopSpoken = spoken.onChange(onSpoken)
      const options = { runOnLimitedConnection: true, maxInboundStreams: 4 }
      await libp2p.handle(MEMBER_PROTOCOL, answer, options)
      for (const connection of libp2p.getConnections()) {
        watch(connection)
        onSpoken(connection.remotePeer.toString())
      }
    },
    async stop() {
      libp2p.removeEventListener('connection:open', onOpen)
      libp2p.removeEventListener('connection:close', onClose)
      stopSpoken()
      await libp2p.unhandle(MEMBER_PROTOCOL)
      for (const watched of watchedById.values()) {
        watched.cancelRetry()
        for (const wake of watched.waiting) wake()
      }
      watchedById.clear()
      provenCount.clear()
      listeners.clear()
      memberListeners.clear()
    },
    standing: (connection) => watchedById.get(connection.id)?.standing ?? 'unproven',
    isMember: (peer) => isProven(peer) || heard.has(peer),
    isProven,
    members: () => [...provenCount.keys()],
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async prove(connection, signal) {
      const watched = watch(connection)
      if (watched.standing !== 'unproven') return watched.standing === 'proven'
      watched.cancelRetry()
      const ended = new AbortController()
      void run(watched).then(() => ended.abort())
      return whenProven(connection, AbortSignal.any([signal, ended.signal]))
    },
    whenProven,
    onMember(listener) {
      memberListeners.add(listener)
      return () => memberListeners.delete(listener)
    },
    noteAuthor: noteMember,
  }
}

/** Runs a handshake; when the time is over the stream is reset, which ends it. */
async function within(
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

/** An abort signal by the clock, so that tests own time. */
function abortAfter(clock: Clock, delayMs: number): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, cancel: clock.after(delayMs, () => controller.abort()) }
}
