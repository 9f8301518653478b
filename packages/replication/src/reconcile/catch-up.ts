/**
 * Decides when to compare ledgers, and with whom. It asks a new peer at once, a random peer every minute, and a peer that is
 * not on the topic every few seconds. It asks again after a failure. After a session with news, or an old entry that has
 * ended, it asks a few others soon. So a healed partition heals everywhere.
 */
import { type Clock, type PeerId, type Random } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import {
  DIGEST_CHECK_INTERVAL_MS,
  FEW_JOINED,
  JOINED_FOR_EACH_MS,
  JOINED_MOST_MS,
  MAX_OWN_SESSIONS,
  MAX_RETRY_MS,
  MAX_SLOW_OWN_SESSIONS,
  QUICK_SPREADS,
  REPLICATION_PROTOCOL,
  RETRY_MS,
  SECOND_CALLER_MS,
  SPREAD_CALM_MS,
  SPREAD_DELAY_MS,
  SPREAD_MOST_MS,
  SPREAD_PEERS,
  STALE_SESSION_MS,
  UNHEARD_CHECK_INTERVAL_MS,
} from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'
import type { Reconciler } from './reconciler.ts'
import type { SessionResult } from './session-result.ts'
import { startTimer } from '../timer.ts'

export interface CatchUpComponents {
  readonly self: PeerId
  readonly channels: ReplicationChannels
  readonly topic: Pick<ReplicationTopic, 'peers'>
  readonly reconciler: Reconciler
  readonly clock: Clock
  readonly random: Random
}

export class CatchUp {
  readonly #components: CatchUpComponents
  /** Peers to compare with as soon as a session is free, and none runs with them. */
  readonly #due = new Set<PeerId>()
  /** Peers that were not on the topic when this was looked at last: what was sent there meanwhile they have missed. */
  readonly #unheard = new Set<PeerId>()
  /** Cancels what waits for its time, by peer, and by `NEWS` for what is for no peer. */
  readonly #waiting = new Map<string, () => void>()
  /** Who brought the news that is to be spread; undefined when it is not of one peer. */
  #newsFrom: PeerId | undefined
  readonly #failures = new Map<PeerId, Backoff>()
  readonly #stopping = new AbortController()
  /** Sessions that hold a place. */
  #running = 0
  /** Ends the sessions that this node opened, by whom they are with. */
  readonly #sessions = new Map<PeerId, AbortController>()
  /** Those of them that hold no place any more, as their peers are slow, and since when; the oldest first. */
  readonly #slow = new Map<AbortController, number>()
  /** Peers that were slow last time: others are asked before them. */
  readonly #wereSlow = new Set<PeerId>()
  /** When others were asked for the sake of news last, and how often they were without a calm in between. */
  #spreadAt = Number.NEGATIVE_INFINITY
  #spreads = 0
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

  /** Must be told of every session that ended, ours and theirs. */
  sessionEnded({ peer, outcome, news }: SessionResult): void {
    if (this.#stopping.signal.aborted) return
    if (outcome === 'failed') return this.#retry(peer)
    this.#failures.delete(peer)
    this.#cancel(peer)
    if (news) this.#askSoon(peer)
  }

  /**
   * Compares with some peers soon. Called when what was refused may be taken by now, when an old entry came that has ended
   * and that others may have taken, and when this node asks whether another process uses its identity.
   */
  compareSoon(): void {
    if (!this.#stopping.signal.aborted) this.#askSoon()
  }

  /** Must be told when this node's clock was set: everybody that it can ask hears of it soon. */
  clockSet(): void {
    if (this.#stopping.signal.aborted) return
    for (const peer of this.#components.channels.peersWith(REPLICATION_PROTOCOL))
      this.#later(peer, SPREAD_DELAY_MS, () => this.#ask(peer))
  }

  stop(): void {
    this.#stopping.abort(new Error('this node stops'))
    for (const end of this.#ends) end()
    for (const session of this.#sessions.values()) session.abort(new Error('this node stops'))
    for (const cancel of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#due.clear()
  }

  /**
   * Both notice the meeting; one begins, the other does only if it was not asked meanwhile. Where many are met at once the
   * later ones are asked later: by then gossip has made the ledgers alike, and comparing equal ones costs little.
   */
  #joined(peer: PeerId): void {
    this.#failures.delete(peer)
    if (!this.#components.topic.peers().includes(peer)) this.#unheard.add(peer)
    // slow peers hold no place, and are asked after those that are not
    const due = [...this.#due].filter((each) => !this.#wereSlow.has(each)).length
    const many = Math.max(0, this.#running + due + this.#waiting.size - FEW_JOINED)
    const crowdMs = Math.min(JOINED_MOST_MS, many * JOINED_FOR_EACH_MS)
    const waitMs = crowdMs + (this.#components.self < peer ? 0 : SECOND_CALLER_MS)
    if (waitMs === 0) this.#ask(peer)
    else this.#later(peer, waitMs, () => this.#ask(peer))
  }

  #left(peer: PeerId): void {
    this.#cancel(peer)
    this.#due.delete(peer)
    this.#unheard.delete(peer)
    this.#failures.delete(peer)
    this.#wereSlow.delete(peer)
  }

  #retry(peer: PeerId): void {
    this.#due.delete(peer)
    if (!this.#isPresent(peer)) return
    const limits = { leastMs: RETRY_MS, mostMs: MAX_RETRY_MS }
    const failures = this.#failures.get(peer) ?? createBackoff(limits, this.#components)
    this.#failures.set(peer, failures)
    failures.failed()
    this.#schedule(peer, failures.remainingMs(), () => this.#ask(peer))
  }

  /**
   * Asks a few within a second, or later where news goes on. What is news to all, or came from two, may be news to whoever
   * brought some of it.
   */
  #askSoon(from?: PeerId): void {
    if (this.#waiting.has(NEWS)) {
      if (from !== this.#newsFrom) this.#newsFrom = undefined
      return
    }
    this.#newsFrom = from
    const { clock } = this.#components
    if (clock.monotonic() - this.#spreadAt >= SPREAD_CALM_MS) this.#spreads = 0
    const waitMs = SPREAD_DELAY_MS * 2 ** Math.max(0, this.#spreads++ - QUICK_SPREADS)
    this.#later(NEWS, Math.min(SPREAD_MOST_MS, waitMs), () => {
      this.#spreadAt = clock.monotonic()
      this.#askSome(SPREAD_PEERS, this.#newsFrom)
    })
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

  /**
   * Those that came to the topic, and one of the members that are connected, and neither hear nor are heard there.
   */
  #askUnheard(): void {
    const { channels, topic, random } = this.#components
    const heard = new Set(topic.peers())
    const arrived = [...this.#unheard].filter((peer) => heard.has(peer))
    const unheard = channels.peersWith(REPLICATION_PROTOCOL).filter((peer) => !heard.has(peer))
    for (const peer of arrived) this.#unheard.delete(peer)
    for (const peer of unheard) this.#unheard.add(peer)
    const peer = unheard[Math.floor(random.float() * unheard.length)]
    for (const each of peer === undefined ? arrived : [...arrived, peer]) this.#ask(each)
  }

  #ask(peer: PeerId): void {
    if (this.#stopping.signal.aborted || !this.#isPresent(peer)) return
    this.#cancel(peer)
    this.#due.add(peer)
    this.#work()
  }

  #work(): void {
    const isFast = (peer: PeerId) => !this.#wereSlow.has(peer)
    while (this.#running < MAX_OWN_SESSIONS && !this.#stopping.signal.aborted) {
      // with one that is busy the session that runs began before there was this cause for another
      const due = [...this.#due].filter((peer) => !this.#sessions.has(peer))
      const peer = due.find(isFast) ?? due[0]
      if (peer === undefined) return
      this.#due.delete(peer)
      if (!this.#components.reconciler.isPaused(peer)) void this.#compareWith(peer)
    }
  }

  /** Holds a place for one session until it ends, or its peer is slow: who is slow keeps nobody else from being asked. */
  async #compareWith(peer: PeerId): Promise<void> {
    const { clock } = this.#components
    const session = new AbortController()
    let holdsPlace = true
    const leave = () => {
      if (!holdsPlace) return
      holdsPlace = false
      this.#running--
      this.#work()
    }
    const onSlow = () => {
      if (this.#sessions.get(peer) !== session) return
      if (this.#isPresent(peer)) this.#wereSlow.add(peer)
      const waitMs = this.#makeRoomForSlow()
      if (waitMs > 0) return void clock.after(waitMs, onSlow)
      this.#slow.set(session, clock.monotonic())
      leave()
    }
    this.#running++
    this.#sessions.set(peer, session)
    this.#wereSlow.delete(peer)
    await this.#components.reconciler.reconcile(peer, { signal: session.signal, onSlow })
    this.#sessions.delete(peer)
    this.#slow.delete(session)
    leave()
    this.#work()
  }

  /** Gives for how long, in ms, there is no room for one more that is slow; the oldest ends when it has had its time. */
  #makeRoomForSlow(): number {
    const [oldest] = this.#slow
    if (oldest === undefined || this.#slow.size < MAX_SLOW_OWN_SESSIONS) return 0
    const [session, sinceMs] = oldest
    const leftMs = sinceMs + STALE_SESSION_MS - this.#components.clock.monotonic()
    if (leftMs > 0) return leftMs
    this.#slow.delete(session)
    session.abort(new Error('others are slow, too'))
    return 0
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
