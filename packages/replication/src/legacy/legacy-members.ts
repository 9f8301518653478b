/**
 * Tells which legacy members are present and gives them what they need (docs/WIRE.md 4.9). One elected node sends them the
 * whole ledger now and then, and another node does so rarely. The node also sends its own entries when a legacy member
 * appears on the topic.
 */
import { BoundedMap, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import { type KeyedEntry, type Ledger, leaderOf } from '@mesh/ledger'
import {
  LEGACY_MEMBER_MS,
  MAX_MEMBERS_REMEMBERED,
  NEWCOMER_GRACE_MS,
  REPUBLISH_INTERVAL_MS,
  TOPIC_POLL_MS,
  WHOLE_LEDGER_BYTES_PER_S,
  WHOLE_LEDGER_HEARD_MS,
  WHOLE_LEDGER_INTERVAL_MS,
  WHOLE_LEDGER_SPARE_MS,
} from '../limits.ts'
import type { Members } from '../presence/members.ts'
import type { ReplicationTopic } from '../ports.ts'
import type { Publisher } from '../gossip/publisher.ts'
import { startTimer } from '../timer.ts'
import type { BlockForm } from '../gossip/block-form.ts'

export interface LegacyMembersInit {
  /** A block of a legacy member was judged; `isFirst` when none was about before. */
  readonly onHeard: (isFirst: boolean) => void
}

export interface LegacyMembersComponents {
  readonly ledger: Pick<Ledger, 'self' | 'snapshot' | 'mode'>
  readonly topic: ReplicationTopic
  readonly members: Members
  readonly publisher: Publisher
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class LegacyMembers {
  /** Whole ledgers that this node sent. */
  wholeLedgersSent = 0
  readonly #init: LegacyMembersInit
  readonly #components: LegacyMembersComponents
  /** The members whose blocks have the legacy form and that do not speak `REPLICATION_PROTOCOL`, by when each was heard. */
  readonly #heardAt = new BoundedMap<PeerId, number>(MAX_MEMBERS_REMEMBERED)
  readonly #senders = new BoundedMap<PeerId, number>(MAX_MEMBERS_REMEMBERED)
  /** Peers on the topic: since when, and whether they were seen to. */
  readonly #onTopic = new Map<PeerId, { readonly since: number; served: boolean }>()
  #republishedAt = Number.NEGATIVE_INFINITY
  #notBefore = Number.NEGATIVE_INFINITY
  #sending = false
  #ends: (() => void)[] = []

  constructor(init: LegacyMembersInit, components: LegacyMembersComponents) {
    this.#init = init
    this.#components = components
  }

  start(): void {
    this.#ends = [
      startTimer({ everyMs: () => WHOLE_LEDGER_INTERVAL_MS, run: () => this.#sendWhole() }, this.#components),
      startTimer({ everyMs: () => TOPIC_POLL_MS, run: () => this.#lookAtTopic() }, this.#components),
    ]
  }

  /** Tells who sends what from the form of a block that was judged. */
  blockTaken(author: PeerId, form: BlockForm): void {
    if (form === 'whole') this.#senders.set(author, this.#components.clock.monotonic())
    if (form !== 'legacy' || this.#components.ledger.mode === 'off') return
    const isFirst = !this.areAbout()
    const { members, clock } = this.#components
    if (members.isOurs(author)) this.#heardAt.delete(author)
    else this.#heardAt.set(author, clock.monotonic())
    this.#init.onHeard(isFirst)
  }

  /** Was a legacy member heard within ten minutes? */
  areAbout(): boolean {
    return this.list().length > 0
  }

  /** The legacy members that were heard within ten minutes. */
  list(): readonly PeerId[] {
    const oldestMs = this.#components.clock.monotonic() - LEGACY_MEMBER_MS
    return [...this.#heardAt].filter(([, atMs]) => atMs > oldestMs).map(([author]) => author)
  }

  stop(): void {
    for (const end of this.#ends) end()
  }

  #sendWhole(): void {
    const { clock, ledger, publisher } = this.#components
    const now = clock.monotonic()
    if (this.#sending || now < this.#notBefore || !this.areAbout()) return
    if (!this.#isSender(now) && !this.#isSpare()) return
    this.#sending = true
    const snapshot = ledger.snapshot()
    // Index 0 and no hash as in any of our blocks; the time marks it as a whole ledger, for others of ours.
    const head = { index: 0, timestamp: snapshot.head.timestamp || 'whole', hash: '', prevHash: '' }
    void publisher.send(snapshot.entries(), head).then((bytes) => {
      this.wholeLedgersSent++
      this.#notBefore = now + (bytes / WHOLE_LEDGER_BYTES_PER_S) * 1000
      this.#sending = false
    })
  }

  /** Elected among those in sight; of two that do not see each other, the one that would win goes on. */
  #isSender(now: number): boolean {
    const { ledger, members } = this.#components
    if (members.leader() !== ledger.self) return false
    const heard = [...this.#senders].filter(([, at]) => at + WHOLE_LEDGER_HEARD_MS > now).map(([id]) => id)
    return leaderOf([ledger.self, ...heard].toSorted()) === ledger.self
  }

  /** One of all those connected, drawn at random, so that no member can be chosen to keep the others silent. */
  #isSpare(): boolean {
    const { members, random } = this.#components
    const each = (1 + members.ours().length) * WHOLE_LEDGER_SPARE_MS
    return random.float() * each < WHOLE_LEDGER_INTERVAL_MS
  }

  #lookAtTopic(): void {
    const { clock, topic, members } = this.#components
    const now = clock.monotonic()
    const present = new Set(topic.peers())
    for (const peer of this.#onTopic.keys()) if (!present.has(peer)) this.#onTopic.delete(peer)
    const ours = new Set(members.ours())
    let hasNewcomer = false
    for (const peer of present) {
      const seen = this.#onTopic.get(peer) ?? { since: now, served: false }
      this.#onTopic.set(peer, seen)
      if (seen.served || now - seen.since < NEWCOMER_GRACE_MS) continue
      if (!ours.has(peer)) {
        if (now - this.#republishedAt < REPUBLISH_INTERVAL_MS) continue
        hasNewcomer = true
      }
      seen.served = true
    }
    if (!hasNewcomer) return
    this.#republishedAt = now
    this.#components.publisher.publish(ownEntries(this.#components.ledger))
  }
}

/** Tombstones too: a legacy member knows no other way to learn of them. */
function* ownEntries(ledger: Pick<Ledger, 'self' | 'snapshot'>): Generator<KeyedEntry> {
  for (const keyed of ledger.snapshot().entries()) if (keyed.entry.owner === ledger.self) yield keyed
}
