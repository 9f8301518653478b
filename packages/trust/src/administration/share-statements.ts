/**
 * Exchanges what two peers hold of the bucket `admission`, when one keeps the other out or holds something else. A peer
 * that is kept out hears nothing over the topic. It must be able to show its claim and to learn who is in. Both send
 * everything; the ledger refuses what does not verify.
 */
import { BoundedMap, BUCKETS, type Clock, type Logger, type PeerId } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import {
  type Change,
  decodeEntries,
  encodeBlock,
  encodeEntry,
  type KeyedEntry,
  type Snapshot,
} from '@mesh/ledger'
import type { Conversation } from '../exchange/conversation.ts'
import type { ExchangeKind } from '../exchange/exchanges.ts'
import type { TrustMessage } from '../exchange/trust-message.ts'
import {
  ENTRIES_AT_ONCE,
  ENTRIES_MESSAGE_BYTES,
  ENTRIES_PER_MESSAGE,
  MAX_COUNTED_PEERS,
  MAX_ENTRY_MESSAGES,
} from '../limits.ts'
import type { PublishEntries, TrustLedger } from '../ports.ts'
import { fromHex, toHex } from './encodings.ts'

interface ShareComponents {
  readonly ledger: TrustLedger
  readonly mayUse: (peer: string) => boolean
  /** True when an administrator has let this node in: until then others may not hear it over the topic. */
  readonly isConfirmed: () => boolean
  /** Passes on to members what came from somebody whom they may not hear. */
  readonly publish: PublishEntries
  readonly log: Logger
  readonly clock: Clock
}

export class StatementSharing implements ExchangeKind {
  readonly first = 'digest'
  readonly #components: ShareComponents
  /** The digest of what each peer was last shown. */
  readonly #shown = new BoundedMap<PeerId, string>(MAX_COUNTED_PEERS)

  constructor(components: ShareComponents) {
    this.#components = components
  }

  isWanted(peer: PeerId): boolean {
    return this.#shown.get(peer) !== this.#digest() && this.#isReason(peer)
  }

  async begin(conversation: Conversation): Promise<void> {
    const ours = await this.#sendDigest(conversation)
    const first = await conversation.next()
    if (first?.kind !== 'digest') throw new Error('no digest came')
    await this.#exchange(conversation, { ours, theirs: first.digest })
  }

  async answer(conversation: Conversation, first: TrustMessage): Promise<void> {
    if (first.kind !== 'digest') return
    const ours = await this.#sendDigest(conversation)
    await this.#exchange(conversation, { ours, theirs: first.digest })
  }

  async #sendDigest(conversation: Conversation): Promise<string> {
    const digest = this.#digest()
    await conversation.send({ kind: 'digest', digest: fromHex(digest) })
    return digest
  }

  /** Members hear each other over the topic once they have met. */
  #isReason(peer: PeerId): boolean {
    const { mayUse, isConfirmed } = this.#components
    return !mayUse(peer) || !this.#shown.has(peer) || !isConfirmed()
  }

  /** Both sides compare the same two digests, so that both send all they hold or neither waits for the other. */
  async #exchange(
    conversation: Conversation,
    { ours, theirs }: { readonly ours: string; readonly theirs: Uint8Array },
  ): Promise<void> {
    let shown = ours
    if (toHex(theirs) !== ours) {
      const snapshot = this.#components.ledger.snapshot()
      shown = digestOf(snapshot)
      await Promise.all([this.#sendAll(conversation, snapshot), this.#receiveAll(conversation)])
    }
    // what was written meanwhile was not shown, and what the peer brought is worth another look
    this.#shown.set(conversation.channel.peer, shown)
  }

  async #sendAll(conversation: Conversation, snapshot: Snapshot): Promise<void> {
    for (const batch of batchesOf(snapshot.entries(BUCKETS.admission))) {
      await conversation.send({ kind: 'entries', block: encodeBlock(batch) })
    }
    await conversation.send({ kind: 'done' })
  }

  async #receiveAll(conversation: Conversation): Promise<void> {
    for (let messages = 0; messages <= MAX_ENTRY_MESSAGES; messages++) {
      const message = await conversation.next()
      if (message === undefined) throw new Error('the other side ended before it had said all')
      if (message.kind === 'done') return
      if (message.kind === 'entries') await this.#takeAll(message.block, conversation)
    }
    throw new Error('more entries than anybody holds')
  }

  async #takeAll(block: Uint8Array, { channel, ended }: Conversation): Promise<void> {
    const budget = loopBudget(this.#components.clock)
    const { entries } = decodeEntries(block)
    if (entries.length > ENTRIES_PER_MESSAGE) throw new Error('more entries than a message may have')
    const statements = entries.filter(({ bucket }) => bucket === BUCKETS.admission)
    for (let at = 0; at < statements.length; at += ENTRIES_AT_ONCE) {
      const some = statements.slice(at, at + ENTRIES_AT_ONCE)
      // each entry costs a signature's check
      const { peer, address = peer } = channel
      await budget.run('strangers', async () => this.#take(some, peer), { key: address, signal: ended })
    }
  }

  #take(entries: readonly KeyedEntry[], peer: PeerId): void {
    const { ledger, publish, log } = this.#components
    const taken: Change[] = []
    const unsubscribe = ledger.subscribe((event) => {
      if (event.type === 'committed') taken.push(...event.changes)
    })
    const { accepted, rejected } = ledger.merge(entries, peer)
    unsubscribe()
    log.debug('statements taken', { peer, accepted, rejected: rejected.length })
    publish(taken.filter(({ bucket }) => bucket === BUCKETS.admission))
  }

  #digest(): string {
    return digestOf(this.#components.ledger.snapshot())
  }
}

/** Yields the entries in groups of which each fits into a message. */
function* batchesOf(entries: Iterable<KeyedEntry>): Generator<readonly KeyedEntry[]> {
  let batch: KeyedEntry[] = []
  let bytes = 0
  for (const keyed of entries) {
    const size = byteLength(encodeEntry(keyed.entry)) + byteLength(keyed.key)
    if (batch.length === ENTRIES_PER_MESSAGE || (batch.length > 0 && bytes + size > ENTRIES_MESSAGE_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(keyed)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** Gives the digest of the bucket `admission`, in hexadecimal digits; '' for none. */
function digestOf(snapshot: Snapshot): string {
  return snapshot.digest().buckets[BUCKETS.admission] ?? ''
}

const byteLength = (text: string) => new TextEncoder().encode(text).length
