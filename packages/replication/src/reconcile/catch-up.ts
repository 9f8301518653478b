/**
 * When to compare with whom: at once with a peer that joins, once a minute with a random one, every few seconds with one
 * that is not on the topic, again after a failure, and soon with a few others after a session that brought news, so that
 * a healed partition heals everywhere.
 */
import { type Backoff, type Clock, createBackoff, type PeerId, type Random } from '@mesh/core'
import {
  DIGEST_CHECK_INTERVAL_MS,
  MAX_OWN_SESSIONS,
  MAX_RETRY_MS,
  REPLICATION_PROTOCOL,
  RETRY_MS,
  SECOND_CALLER_MS,
  SPREAD_DELAY_MS,
  SPREAD_PEERS,
  UNHEARD_CHECK_INTERVAL_MS,
} from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'
import type { Reconciler } from './reconciler.ts'
import type { SessionResult } from './session-result.ts'
import { startTimer } from '../timer.ts'

export interface CatchUp {
  start(): void
  /** Must be told of every session that ended, ours and theirs. */
  sessionEnded(result: SessionResult): void
  /** Must be told when what was refused may be taken: this node lets others in than before, or its clock was set. */
  rulesChanged(): void
  stop(): void
}

export interface CatchUpComponents {
  readonly self: PeerId
  readonly channels: ReplicationChannels
  readonly topic: Pick<ReplicationTopic, 'peers'>
  readonly reconciler: Reconciler
  readonly clock: Clock
  readonly random: Random
}

export function createCatchUp(components: CatchUpComponents): CatchUp {
  return new ScheduledCatchUp(components)
}

class ScheduledCatchUp implements CatchUp {
  readonly #components: CatchUpComponents
  /** Peers to compare with as soon as a session is free. */
  readonly #due = new Set<PeerId>()
  /** Cancels what waits for its time, by peer, and by `NEWS` for what is for no peer. */
  readonly #waiting = new Map<string, () => void>()
  readonly #failures = new Map<PeerId, Backoff>()
  readonly #stopping = new AbortController()
  #running = 0
  #ends: (() => void)[] = []

  constructor(components: CatchUpComponents) {
    this.#components = components
  }

  start(): void {
    const { channels } = this.#components
    const everyMs = () => DIGEST_CHECK_INTERVAL_MS
    this.#ends = [
      channels.onPeerWith(REPLICATION_PROTOCOL, (peer, present) => {
        if (present) this.#joined(peer)
        else this.#left(peer)
      }),
      startTimer({ everyMs, least: 0.75, run: () => this.#askSome(1) }, this.#components),
      startTimer(
        { everyMs: () => UNHEARD_CHECK_INTERVAL_MS, run: () => this.#askUnheard() },
        this.#components,
      ),
    ]
    for (const peer of channels.peersWith(REPLICATION_PROTOCOL)) this.#joined(peer)
  }

  sessionEnded({ peer, outcome, news }: SessionResult): void {
    if (this.#stopping.signal.aborted) return
    if (outcome === 'failed') return this.#retry(peer)
    this.#failures.delete(peer)
    this.#cancel(peer)
    if (news) this.#askSoon(peer)
  }

  rulesChanged(): void {
    if (!this.#stopping.signal.aborted) this.#askSoon()
  }

  stop(): void {
    this.#stopping.abort(new Error('this node stops'))
    for (const end of this.#ends) end()
    for (const cancel of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#due.clear()
  }

  /** Both notice the meeting; one begins, the other does only if it was not asked meanwhile. */
  #joined(peer: PeerId): void {
    this.#failures.delete(peer)
    if (this.#components.self < peer) this.#ask(peer)
    else this.#later(peer, SECOND_CALLER_MS, () => this.#ask(peer))
  }

  #left(peer: PeerId): void {
    this.#cancel(peer)
    this.#due.delete(peer)
    this.#failures.delete(peer)
  }

  #retry(peer: PeerId): void {
    if (!this.#isPresent(peer)) return
    const limits = { leastMs: RETRY_MS, mostMs: MAX_RETRY_MS }
    const failures = this.#failures.get(peer) ?? createBackoff(limits, this.#components)
    this.#failures.set(peer, failures)
    failures.failed()
    this.#schedule(peer, failures.remainingMs(), () => this.#ask(peer))
  }

  #askSoon(but?: PeerId): void {
    if (this.#waiting.has(NEWS)) return
    this.#later(NEWS, SPREAD_DELAY_MS, () => this.#askSome(SPREAD_PEERS, but))
  }

  /** Random peers, `but` excluded. */
  #askSome(count: number, but?: PeerId): void {
    const { channels, random } = this.#components
    const peers = channels.peersWith(REPLICATION_PROTOCOL).filter((peer) => peer !== but)
    for (let left = Math.min(count, peers.length); left > 0; left--) {
      const [peer] = peers.splice(Math.floor(random.float() * peers.length), 1)
      if (peer !== undefined) this.#ask(peer)
    }
  }

  /** One of the members that are connected, and neither hear nor are heard on the topic. */
  #askUnheard(): void {
    const { channels, topic, random } = this.#components
    const heard = new Set(topic.peers())
    const unheard = channels.peersWith(REPLICATION_PROTOCOL).filter((peer) => !heard.has(peer))
    const peer = unheard[Math.floor(random.float() * unheard.length)]
    if (peer !== undefined) this.#ask(peer)
  }

  #ask(peer: PeerId): void {
    if (this.#stopping.signal.aborted || !this.#isPresent(peer)) return
    this.#cancel(peer)
    this.#due.add(peer)
    this.#work()
  }

  #work(): void {
    for (const peer of this.#due) {
      if (this.#running >= MAX_OWN_SESSIONS) return
      this.#due.delete(peer)
      if (this.#components.reconciler.isPaused(peer)) continue
      this.#running++
      void this.#components.reconciler.reconcile(peer, this.#stopping.signal).finally(() => {
        this.#running--
        this.#work()
      })
    }
  }

  /** Waits for half of the time at least, so that nodes do not act together. */
  #later(id: string, delayMs: number, run: () => void): void {
    this.#schedule(id, delayMs * (0.5 + this.#components.random.float() / 2), run)
  }

  /** @param id a peer, or `NEWS` */
  #schedule(id: string, delayMs: number, run: () => void): void {
    this.#cancel(id)
    const cancel = this.#components.clock.after(delayMs, () => {
      this.#waiting.delete(id)
      run()
    })
    this.#waiting.set(id, cancel)
  }

  #cancel(id: string): void {
    this.#waiting.get(id)?.()
    this.#waiting.delete(id)
  }

  #isPresent(peer: PeerId): boolean {
    return this.#components.channels.peersWith(REPLICATION_PROTOCOL).includes(peer)
  }
}

const NEWS = 'news'
