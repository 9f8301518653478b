/**
 * Runs sessions over channels: messages from bytes, entries to the ledger, refusals to memory, and every way in which a
 * remote can misbehave to an abort that is counted.
 */
import type { Clock, Logger, PeerId } from '@mesh/core'
import { createRate, loopBudget, type Place, type RateLimit, Scope } from '@mesh/core/limits'
import { isVersionAhead, type KeyedEntry, type Ledger, type Snapshot } from '@mesh/ledger'
import { replicationError } from '../errors.ts'
import { helloOf, stateKey } from '../session/hello.ts'
import {
  FAULT_PAUSE_MS,
  MAX_BAD_ENTRIES,
  PENDING_PARTS,
  SESSION_RATES,
  SESSIONS,
  MAX_SYNC_MESSAGE_BYTES,
  REPLICATION_PROTOCOL,
  SESSION_TIMEOUT_MS,
  KNOWN_DIFFERENCE_MS,
  PEER_CLOCK_STEP_MS,
} from '../limits.ts'
import { inTurn, mergeBatch, stepsInTurns } from './merge-batch.ts'
import { createPeerSessions, type PeerSessions } from './peer-sessions.ts'
import type { ReplicationChannel, ReplicationChannels } from '../ports.ts'
import { hexOf } from '../session/position.ts'
import {
  createTally,
  failureOf,
  isFault,
  noteSession,
  outcomeOf,
  ReconcileError,
  type ReconcileFailure,
  type SessionResult,
  type Tally,
} from './session-result.ts'
import { RemoteWait } from './remote-wait.ts'
import { createRefusalMemory, type RefusalMemory } from './refusals.ts'
import { RefusedThere } from './refused-there.ts'
import { Session } from '../session/session.ts'
import type { SyncMessage } from '../session/sync-message.ts'
import { decodeSyncMessage, encodeSyncMessage } from '../session/sync-message-codec.ts'

interface ReconcileOptions {
  readonly signal?: AbortSignal
  readonly onSlow?: () => void
}

export interface ReconcilerInit {
  /** Entries that a ledger of this network may hold. */
  readonly maxEntries: number
  /** How long a lease lasts, in ms. */
  readonly livenessMs: number
  readonly onSession: (result: SessionResult) => void
  /** A peer refused this entry of ours. */
  readonly onRefusedThere: (keyed: KeyedEntry, code: string) => void
}

export interface ReconcilerComponents {
  readonly ledger: Pick<Ledger, 'merge' | 'snapshot' | 'clockTold' | 'admits'>
  readonly channels: ReplicationChannels
  readonly clock: Clock
  readonly logger: Logger
}

export class Reconciler {
  readonly peers: PeerSessions
  readonly failures: Partial<Record<ReconcileFailure, number>> = {}
  /** The counts of what this node refused in sessions, and of what was refused of what it sent, by code. */
  readonly refusedHere: Record<string, number> = {}
  readonly #init: ReconcilerInit
  readonly #components: ReconcilerComponents
  readonly #ours: RefusalMemory
  readonly #theirs: RefusedThere
  readonly #own = new Map<PeerId, Promise<SessionResult>>()
  readonly #channels = new Set<ReplicationChannel>()
  readonly #stopping = new AbortController()
  readonly #sessions = new Scope(SESSIONS)
  readonly #pending = new Scope(PENDING_PARTS)
  readonly #calls: RateLimit

  constructor(init: ReconcilerInit, components: ReconcilerComponents) {
    this.#calls = createRate(SESSION_RATES, components.clock)
    this.#ours = createRefusalMemory({ livenessMs: init.livenessMs })
    this.#theirs = new RefusedThere(init.livenessMs, init.onRefusedThere)
    this.#init = init
    this.#components = components
    this.peers = createPeerSessions()
  }

  /** Sessions that run now. */
  get running(): number {
    return this.#channels.size
  }

  get refusedThere(): Readonly<Record<string, number>> {
    return this.#theirs.counts
  }

  /** Answers inbound sessions from now on. */
  async start(): Promise<void> {
    const options = { maxMessageBytes: MAX_SYNC_MESSAGE_BYTES, maxPerPeer: 1 }
    await this.#components.channels.handle(REPLICATION_PROTOCOL, options, (channel) => this.#accept(channel))
  }

  /**
   * Runs a session, or joins the one that runs with this peer. Never rejects.
   * @param options.onSlow called once, when the peer has kept the session waiting for `SLOW_SESSION_MS` in all
   */
  reconcile(peer: PeerId, options: ReconcileOptions = {}): Promise<SessionResult> {
    const running = this.#own.get(peer)
    if (running !== undefined) return running
    const session = this.#call(peer, options).finally(() => this.#own.delete(peer))
    this.#own.set(peer, session)
    return session
  }

  /** True when the peer is not to be asked now, as it broke the protocol. */
  isPaused(peer: PeerId): boolean {
    return this.peers.of(peer).pausedUntil > this.#components.clock.monotonic()
  }

  /** Forgets who was refused for not being let in, and which differences that left. */
  admissionChanged(): void {
    this.#ours.forget('GATED')
    this.#theirs.forget('GATED')
    this.peers.forgetDifferences()
  }

  /** Forgets what was refused as coming from the future: this node's clock was set. */
  clockSet(): void {
    this.#ours.forget('FUTURE')
    this.peers.forgetDifferences()
  }

  stop(): void {
    this.#stopping.abort(replicationError('replication.timeout', 'this node stops'))
    for (const channel of this.#channels) channel.abort(new Error('this node stops'))
    this.#channels.clear()
  }

  async #call(peer: PeerId, { signal, onSlow }: ReconcileOptions): Promise<SessionResult> {
    const { channels, clock } = this.#components
    const options = { maxMessageBytes: MAX_SYNC_MESSAGE_BYTES, ...(signal === undefined ? {} : { signal }) }
    const opening = channels.open(peer, REPLICATION_PROTOCOL, options)
    const remote = new RemoteWait(clock, onSlow)
    let channel: ReplicationChannel
    try {
      channel = await remote.for(opening)
    } catch (error) {
      // One that opens after all has nobody left to use it.
      opening.then(
        (late) => late.abort(replicationError('replication.timeout', 'opened too late')),
        () => {},
      )
      this.#components.logger.debug('peer not reached', { peer, error })
      return this.#finish({ peer, role: 'initiator' }, createTally(), { failure: 'unreachable', messages: 0 })
    }
    const end = () => channel.abort(replicationError('replication.timeout', 'others wait'))
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted === true) end()
    return this.#converse(channel, 'initiator', remote).finally(() =>
      signal?.removeEventListener('abort', end),
    )
  }

  async #accept(channel: ReplicationChannel): Promise<void> {
    const { peer, address = peer } = channel
    const mayCall = !this.#isStopped() && !this.isPaused(peer) && this.#calls.take({ peer, address })
    const end = () => channel.abort(replicationError('replication.timeout', 'others wait'))
    const place = mayCall ? this.#sessions.reserve({ peer, address, end }) : undefined
    if (place === undefined) {
      this.#count('too_often')
      channel.abort(replicationError('replication.fault', 'too many sessions'))
      return
    }
    await this.#converse(channel, 'responder', new RemoteWait(this.#components.clock))
    place.release()
  }

  async #converse(
    channel: ReplicationChannel,
    role: 'initiator' | 'responder',
    remote: RemoteWait,
  ): Promise<SessionResult> {
    const { clock, ledger, logger } = this.#components
    const { peer } = channel
    const tally = createTally()
    const session = this.#createSession(peer, role, { snapshot: ledger.snapshot(), tally })
    this.#channels.add(channel)
    const pending = this.#pending.reserve({
      peer,
      ...(channel.address !== undefined && { address: channel.address }),
      size: 0,
      end: () => channel.abort(replicationError('replication.fault', 'too much waits for an answer')),
    })
    const overtime = clock.after(SESSION_TIMEOUT_MS, () =>
      channel.abort(replicationError('replication.timeout', 'a session lasted too long')),
    )
    let failure: ReconcileFailure | undefined
    try {
      await this.#exchange({ channel, session, remote, pending }, tally)
      await channel.close()
    } catch (error) {
      failure = failureOf(error)
      logger.debug('session failed', { peer, role, failure, error })
      channel.abort(replicationError('replication.fault', failure))
    } finally {
      overtime()
      pending?.release()
      this.#channels.delete(channel)
    }
    const outcome = session.theirs === undefined ? undefined : outcomeOf(session, tally, ledger.snapshot())
    // what was refused at first may be taken after what the session brought
    if (failure === undefined && session.theirs !== undefined && !tally.news) {
      this.#rememberDifference(peer, stateKey(helloOf(ledger.snapshot())) + stateKey(session.theirs))
    }
    return this.#finish({ peer, role }, tally, { failure, outcome, messages: session.messages })
  }

  #createSession(
    peer: PeerId,
    role: 'initiator' | 'responder',
    { snapshot, tally }: { snapshot: Snapshot; tally: Tally },
  ): Session {
    const now = () => this.#components.clock.monotonic()
    const hello = { ...helloOf(snapshot), nowMs: Math.round(this.#components.clock.now()) }
    const session = new Session({
      role,
      maxEntries: this.#init.maxEntries,
      snapshot,
      hello,
      current: () => this.#components.ledger.snapshot(),
      isRefused: (hash) => this.#ours.has(hexOf(hash), now()),
      isRefusedThere: (hashOf) => this.#theirs.has({ peer, hello: session.theirs }, hashOf, now()),
      isAhead: (version) => isVersionAhead(version, hello.nowMs),
      isKnownDifference: (theirs) => {
        const { knownDifference } = this.peers.of(peer)
        const state = stateKey(hello) + stateKey(theirs)
        tally.isKnownDifference = knownDifference?.state === state && knownDifference.until > now()
        return tally.isKnownDifference
      },
    })
    return session
  }

  /** Message for message, until neither has more to say. */
  async #exchange({ channel, session, remote, pending }: Conversation, tally: Tally): Promise<void> {
    const { peer, address = peer } = channel
    const lane = { budget: loopBudget(this.#components.clock), key: address, signal: this.#stopping.signal }
    const bound = (parts: number) => {
      if (pending?.resize(parts) === false) throw new ReconcileError('overload')
    }
    const messages = channel.messages()[Symbol.asyncIterator]()
    let lastSent: readonly KeyedEntry[] = []
    const send = async (message: SyncMessage) => {
      const bytes = await inTurn(lane, () => encodeSyncMessage(message))
      tally.bytesOut += bytes.length
      tally.sent += message.entries.length
      lastSent = message.entries
      await remote.for(channel.send(bytes))
    }
    try {
      if (session.messages === 0 && session.role === 'initiator') await send(session.open())
      while (!session.done) {
        const next = await remote.for(messages.next())
        if (next.done === true) throw new ReconcileError('closed')
        tally.bytesIn += next.value.length
        const message = await inTurn(lane, () => decodeSyncMessage(next.value))
        if (message === undefined) throw new ReconcileError('malformed')
        if (session.messages === 0) this.#hearClock(channel.peer, message.hello?.nowMs)
        const { entries, refused } = await inTurn(lane, () => session.receive(message))
        bound(session.pending + entries.length)
        if (refused.length > 0) {
          const by = { peer: channel.peer, hello: session.theirs }
          const [sent, nowMs] = [lastSent, this.#components.clock.monotonic()]
          await inTurn(lane, () => this.#theirs.add(by, refused, sent, nowMs))
        }
        const merged = await mergeBatch(entries, peer, { ...lane, ledger: this.#components.ledger })
        tally.accepted += merged.accepted
        remote.brought(merged.accepted)
        tally.news ||= merged.news
        this.#rememberOurs(merged.refused, tally)
        const answer = await stepsInTurns(lane, session.answering(merged.refused, merged.retracted))
        bound(session.pending)
        if (session.fault !== undefined) throw new ReconcileError(session.fault)
        if (answer !== undefined) await send(answer)
      }
    } finally {
      // Not awaited: a reader that waits for a message ends only with its channel.
      messages.return?.().catch(() => {})
    }
  }

  /** A peer whose clock was set may take what it refused as coming from the future. */
  #hearClock(peer: PeerId, nowMs: number | undefined): void {
    if (nowMs === undefined) return
    const { ledger, clock } = this.#components
    const known = this.peers.of(peer)
    const offsetMs = nowMs - clock.monotonic()
    if (known.clockOffsetMs !== undefined && Math.abs(offsetMs - known.clockOffsetMs) > PEER_CLOCK_STEP_MS) {
      this.#theirs.forget('FUTURE', peer)
      known.knownDifference = undefined
    }
    known.clockOffsetMs = offsetMs
    ledger.clockTold(peer, nowMs)
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #rememberOurs(refused: SyncMessage['refused'], tally: Tally): void {
    const now = this.#components.clock.monotonic()
    for (const { hash, code } of refused) {
      this.#ours.add(hexOf(hash), code, now)
      this.refusedHere[code] = (this.refusedHere[code] ?? 0) + 1
      if (code === 'BAD_SIG' || code === 'MALFORMED' || code === 'TOO_LARGE') tally.bad++
    }
    if (tally.bad > MAX_BAD_ENTRIES) throw new ReconcileError('bad_entries')
  }

  #rememberDifference(peer: PeerId, state: string): void {
    this.peers.of(peer).knownDifference = {
      state,
      until: this.#components.clock.monotonic() + KNOWN_DIFFERENCE_MS,
    }
  }

  #count(failure: ReconcileFailure): void {
    this.failures[failure] = (this.failures[failure] ?? 0) + 1
  }

  #finish(
    of: Pick<SessionResult, 'peer' | 'role'>,
    tally: Tally,
    end: {
      failure: ReconcileFailure | undefined
      outcome?: SessionResult['outcome'] | undefined
      messages: number
    },
  ): SessionResult {
    const { failure, messages } = end
    const { accepted, news, sent, bytesIn, bytesOut } = tally
    const outcome = failure === undefined ? (end.outcome ?? 'failed') : 'failed'
    const result: SessionResult = {
      ...of,
      outcome,
      failure,
      accepted,
      news,
      sent,
      bytesIn,
      bytesOut,
      messages,
    }
    const now = this.#components.clock.monotonic()
    noteSession(this.peers.of(of.peer).counts, result, this.#components.clock.now())
    if (failure !== undefined) this.#count(failure)
    if (failure !== undefined && isFault(failure)) this.peers.of(of.peer).pausedUntil = now + FAULT_PAUSE_MS
    if (!this.#isStopped()) this.#init.onSession(result)
    return result
  }
}

/** One session, and how long its remote has kept it waiting. */
interface Conversation {
  readonly channel: ReplicationChannel
  readonly session: Session
  readonly remote: RemoteWait
  /** Bounds the parts of messages that wait for an answer. */
  readonly pending: Place | undefined
}
