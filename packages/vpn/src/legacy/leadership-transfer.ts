/**
 * Leadership transfer, for nodes that want no address. Legacy nodes elect anyone who has no machine, also one that will
 * never take one, and then wait for it for ever (docs/WIRE.md D31). Such a node names the next legacy one in its place,
 * and the next when that one does nothing. Who wants an address cannot be told, so each is named once, until others
 * come or go. Where no legacy node waits nothing is written: nodes of our kind pass over those who do nothing.
 */
import { shortPeerId } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { concernsLeases, readLeader, readWaiting, writeLeader } from '../addresses/dhcp-bucket.ts'
import {
  TRANSFER_FALLBACK_MS,
  TRANSFER_GATHER_MS,
  TRANSFER_GRACE_MS,
  TRANSFER_PATIENCE_MS,
} from './limits.ts'
import type { VpnComponents } from '../vpn.ts'

export interface TransferComponents
  extends Pick<VpnComponents, 'ledger' | 'initialSync' | 'clock' | 'random' | 'log'> {
  /** Peer ids of legacy members that were heard lately. */
  readonly legacyMembers: () => readonly string[]
}

/**
 * Starts the transfer; not for a node that leases, which takes part in the election itself. The returned
 * function stops it.
 */
export function transferLeadership(components: TransferComponents): () => void {
  const transfer = new LeadershipTransfer(components)
  return () => transfer.stop()
}

class LeadershipTransfer {
  readonly #components: TransferComponents
  /** Those that this node has named. */
  readonly #named = new Set<string>()
  /** Those who had their chance, or passed it on. */
  readonly #idle = new Set<string>()
  /** The time since when each node waits, in Unix ms. */
  readonly #since = new Map<string, number>()
  #leader: string | undefined
  #leaderSince = 0
  /** When to speak for an elected node that is silent, in Unix ms; undefined while nobody need. */
  #fallbackAt: number | undefined
  #unsubscribe = () => {}
  #cancel = () => {}
  /** When the ledger is looked at next, in Unix ms. */
  #lookAt = Number.POSITIVE_INFINITY
  #stopped = false

  constructor(components: TransferComponents) {
    this.#components = components
    void components.initialSync().then(() => this.#begin())
  }

  stop(): void {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
  }

  #begin(): void {
    if (this.#stopped) return
    const { ledger, clock } = this.#components
    this.#unsubscribe = ledger.subscribe((event) => {
      if (event.type !== 'committed' || !event.changes.some(concernsLeases)) return
      this.#lookBy(clock.monotonic() + TRANSFER_GATHER_MS)
    })
    this.#look()
  }

  #look(): void {
    const { ledger, legacyMembers, clock } = this.#components
    this.#lookAt = Number.POSITIVE_INFINITY
    const now = clock.monotonic()
    const wallNow = clock.now()
    const snapshot = ledger.snapshot()
    const waiting = readWaiting(snapshot, wallNow)
    this.#note(waiting, now)
    const legacy = new Set(legacyMembers())
    const isCandidate = (peer: string) =>
      legacy.has(peer) && !this.#idle.has(peer) && snapshot.isOwnerLive(peer, wallNow)
    const next = leaderOf(waiting.filter((peer) => isCandidate(peer) && !this.#named.has(peer)))
    if (next === undefined) return
    const leader = this.#leader
    if (leader !== undefined && waiting.includes(leader) && isCandidate(leader)) {
      this.#fallbackAt = undefined
      this.#lookBy(this.#leaderSince + TRANSFER_PATIENCE_MS)
      return
    }
    const dueAt = Math.max(this.#mayNameAt(next), this.#mustSpeakAt(waiting, now))
    if (now >= dueAt) this.#name(next)
    else this.#lookBy(dueAt)
  }

  /** Remembers who came, who went, and who shows that it wants nothing. */
  #note(waiting: readonly string[], now: number): void {
    const { ledger } = this.#components
    const here = new Set(waiting)
    for (const known of [this.#named, this.#idle, this.#since]) {
      for (const peer of known.keys()) if (!here.has(peer)) known.delete(peer)
    }
    for (const peer of waiting) if (!this.#since.has(peer)) this.#since.set(peer, now)
    const entry = readLeader(ledger.snapshot())
    if (entry?.leader !== this.#leader) {
      this.#leader = entry?.leader
      this.#leaderSince = now
    }
    if (entry === undefined) return
    if (entry.by !== entry.leader && here.has(entry.by)) this.#idle.add(entry.by)
    if (here.has(entry.leader) && now >= this.#leaderSince + TRANSFER_PATIENCE_MS)
      this.#idle.add(entry.leader)
  }

  #mayNameAt(peer: string): number {
    return (this.#since.get(peer) ?? 0) + TRANSFER_GRACE_MS
  }

  /**
   * Gives the time to speak: at once when this node leads or is elected, later where another is, in case that
   * it is no node of ours.
   */
  #mustSpeakAt(waiting: readonly string[], now: number): number {
    const { ledger, random } = this.#components
    if (this.#leader === ledger.self || leaderOf(waiting) === ledger.self) return now
    this.#fallbackAt ??= now + TRANSFER_FALLBACK_MS * (1 + 2 * random.float())
    return this.#fallbackAt
  }

  #name(peer: string): void {
    const { ledger, clock, log } = this.#components
    this.#fallbackAt = undefined
    this.#named.add(peer)
    try {
      writeLeader(ledger, peer)
      log.debug('named the next to take an address', { peer: shortPeerId(peer) })
    } catch (error) {
      log.debug('leader not written', { error })
    }
    this.#lookBy(clock.monotonic() + TRANSFER_PATIENCE_MS)
  }

  #lookBy(at: number): void {
    if (this.#stopped || at >= this.#lookAt) return
    this.#cancel()
    this.#lookAt = at
    const delayMs = Math.max(0, at - this.#components.clock.monotonic())
    this.#cancel = this.#components.clock.after(delayMs, () => this.#look())
  }
}
