/**
 * One reconciliation between two ledgers, without IO: messages in, messages out.
 *
 * 1. Compares the remote's ranges with its own. Equal ranges are done, large ones are cut into 16 and asked back.
 * 2. Answers small ranges with a list. Compares lists: wants what it lacks, sends what the remote lacks.
 * 3. Serves what was wanted, and names what it refused.
 *
 * Work waits on a stack, so the deepest ranges go first and little waits. A message takes what fits.
 */
import type { KeyedEntry, Position, PositionRange, Snapshot } from '@mesh/ledger'
import { type CompareInit, compareList, type Difference, isOrderly } from './compare-list.ts'
import { differingRange } from './hello.ts'
import {
  LEAF_ENTRIES,
  MAX_IDLE_MESSAGES,
  MAX_LEDGER_ENTRIES,
  MAX_PENDING_TASKS,
  MAX_SESSION_MESSAGES,
  RANGE_FANOUT,
  WALK_STEP_ENTRIES,
} from '../limits.ts'
import { equalBytes, isRange } from './position.ts'
import { listItem } from './short-hash.ts'
import { createBudget, type SessionBudget } from './session-budget.ts'
import { isWellFormed } from './well-formed.ts'
import type { Hello, RangeClaim, Refusal, SyncMessage } from './sync-message.ts'
import { SyncMessageBuilder } from './sync-message-builder.ts'

/** Why a session was given up: always the remote's doing. */
export type SessionFault =
  | 'malformed'
  /** More messages, ranges, list items, wants or entries than an honest ledger of that size needs. */
  | 'endless'
  | 'no_progress'

export interface SessionInit extends CompareInit {
  readonly role: 'initiator' | 'responder'
  /** Entries that a ledger of this network may hold; default `MAX_LEDGER_ENTRIES`. */
  readonly maxEntries?: number
  /** Where this ledger stands. */
  readonly hello: Hello
  /** Asked by the responder: did a session in this very state end already, with the two still unequal? */
  readonly isKnownDifference: (theirs: Hello) => boolean
  /**
   * The ledger from which the remote is served what it wanted, as it may be newer than the session's
   * snapshot.
   */
  readonly current: () => Snapshot
}

/** A remote's message may ask this of the caller before `answer`. */
export interface Received {
  /** The entries to merge. */
  readonly entries: readonly KeyedEntry[]
  /** The entries that the remote refused of those sent before; to be remembered. */
  readonly refused: readonly Refusal[]
}

/** Something that waits for an answer, and the number of parts that it keeps until then. */
type Task = { readonly parts: number } & (
  | { readonly kind: 'range'; readonly claim: RangeClaim }
  | { readonly kind: 'differences'; readonly rest: Iterator<Difference> }
  | { readonly kind: 'serve'; readonly rest: Iterator<Position> }
)

export class Session {
  readonly role: 'initiator' | 'responder'
  /** Neither side has more to say; the last answer, if any, is still to be sent. */
  done = false
  fault: SessionFault | undefined
  /** Known after the remote's first message. */
  theirs: Hello | undefined
  /** The number of messages received. */
  messages = 0
  readonly #init: SessionInit
  readonly #tasks: Task[] = []
  #budget: SessionBudget | undefined
  #idleMessages = 0
  #remoteHasMore = false
  #answerExpected = false

  constructor(init: SessionInit) {
    this.#init = init
    this.role = init.role
  }

  /** The number of parts of messages that wait for an answer: ranges, wants, and items of lists. */
  get pending(): number {
    return this.#tasks.reduce((sum, { parts }) => sum + parts, 0)
  }

  /** The initiator's first message. */
  open(): SyncMessage {
    return new SyncMessageBuilder().build(false, this.#init.hello)
  }

  receive(message: SyncMessage): Received {
    this.messages++
    const fault = this.#judge(message)
    if (fault !== undefined) return this.#giveUp(fault)
    const idle =
      message.ranges.length + message.lists.length + message.wants.length + message.entries.length === 0
    this.#remoteHasMore = message.more
    this.#answerExpected = !idle || message.more || this.#isGreeting()
    this.#idleMessages = idle && message.more ? this.#idleMessages + 1 : 0
    if (this.#idleMessages > MAX_IDLE_MESSAGES) return this.#giveUp('no_progress')
    this.#takeTasks(message)
    if (this.#tasks.length > MAX_PENDING_TASKS) return this.#giveUp('endless')
    return { entries: message.entries, refused: message.refused }
  }

  /**
   * The message that answers the last one; undefined when nothing is left to say, or after a fault. Yields after each
   * piece of work, so that other work can have its turn.
   * @param refused what the ledger refused of the entries received
   * @param retracted tombstones of those of them that have ended; as many are sent as there is room for
   */
  *answering(
    refused: readonly Refusal[],
    retracted: readonly KeyedEntry[] = [],
  ): Generator<undefined, SyncMessage | undefined> {
    if (this.fault !== undefined || this.done) return undefined
    const builder = new SyncMessageBuilder()
    for (const refusal of refused) builder.addRefusal(refusal)
    for (const tombstone of retracted) {
      if (builder.full || this.#budget?.take('sent', 1) !== true) break
      builder.addEntry(tombstone)
    }
    while (!builder.full && this.fault === undefined) {
      const task = this.#tasks.pop()
      if (task === undefined) break
      yield* this.#run(task, builder)
      yield
    }
    if (this.fault !== undefined) return undefined
    const more = this.#tasks.length > 0
    if (builder.idle && !more && !this.#remoteHasMore) {
      this.done = true
      if (!this.#answerExpected && refused.length === 0) return undefined
    }
    return builder.build(more, this.#isGreeting() ? this.#init.hello : undefined)
  }

  /** The remote's first message, which its responder greets back. */
  #isGreeting(): boolean {
    return this.messages === 1 && this.role === 'responder'
  }

  #giveUp(fault: SessionFault): Received {
    this.fault = fault
    this.done = true
    this.#tasks.length = 0
    return { entries: [], refused: [] }
  }

  #judge(message: SyncMessage): SessionFault | undefined {
    const { maxEntries = MAX_LEDGER_ENTRIES } = this.#init
    if (this.messages > (MAX_SESSION_MESSAGES * maxEntries) / MAX_LEDGER_ENTRIES) return 'endless'
    if (this.theirs === undefined) {
      if (message.hello === undefined) return 'malformed'
      this.theirs = message.hello
      this.#budget = createBudget(this.#init.snapshot.size, message.hello.size, maxEntries)
    }
    if (!isWellFormed(message) || !message.lists.every(isOrderly)) return 'malformed'
    const items = message.lists.reduce((sum, list) => sum + list.items.length, 0)
    const budget = this.#budget
    const within =
      budget?.take('ranges', message.ranges.length) === true &&
      budget.take('items', items) &&
      budget.take('lists', message.lists.length) &&
      budget.take('wants', message.wants.length) &&
      budget.take('entries', message.entries.length)
    return within ? undefined : 'endless'
  }

  #takeTasks(message: SyncMessage): void {
    const { wants } = message
    if (wants.length > 0) this.#tasks.push({ kind: 'serve', rest: wants.values(), parts: wants.length })
    for (const list of message.lists) {
      const parts = 1 + list.items.length
      this.#tasks.push({ kind: 'differences', rest: compareList(this.#init, list), parts })
    }
    // The last one pushed goes first, so that answers are in the ledger's order.
    for (const claim of message.ranges.toReversed()) this.#tasks.push({ kind: 'range', claim, parts: 1 })
    if (this.#isGreeting() && this.theirs !== undefined && !this.#init.isKnownDifference(this.theirs)) {
      const range = differingRange(this.#init.hello, this.theirs)
      // Its fingerprint is not known yet; an empty one equals none.
      const claim = { count: this.theirs.size, fingerprint: new Uint8Array() }
      if (range !== undefined) this.#tasks.push({ kind: 'range', claim: { ...range, ...claim }, parts: 1 })
    }
  }

  *#run(task: Task, builder: SyncMessageBuilder): Generator<undefined, void> {
    switch (task.kind) {
      case 'range':
        return this.#compareRange(task.claim, builder)
      case 'differences':
        return yield* this.#tellDifferences(task, builder)
      case 'serve':
        return yield* this.#serve(task, builder)
    }
  }

  #compareRange(claim: RangeClaim, builder: SyncMessageBuilder): void {
    const { snapshot } = this.#init
    const ours = snapshot.summarize(claim)
    if (equalBytes(ours.fingerprint, claim.fingerprint)) return
    const { from, to } = claim
    if (claim.count === 0) {
      const rest = compareList(this.#init, { from, to, items: [] })
      this.#tasks.push({ kind: 'differences', rest, parts: 1 })
    } else if (ours.count <= LEAF_ENTRIES) {
      if (this.#spend('listed', ours.count + 1)) builder.addList(listRange(snapshot, { from, to }))
    } else if (this.#spend('splits', 1)) {
      for (const part of splitRange(snapshot, { from, to }, ours.count)) builder.addRange(part)
    }
  }

  #spend(kind: 'listed' | 'splits' | 'sent' | 'walked', amount: number): boolean {
    if (this.#budget?.take(kind, amount) === true) return true
    this.#giveUp('endless')
    return false
  }

  *#tellDifferences(
    task: Task & { kind: 'differences' },
    builder: SyncMessageBuilder,
  ): Generator<undefined, void> {
    while (!builder.full) {
      const next = task.rest.next()
      if (next.done === true) return
      if (next.value.kind === 'want') builder.addWant(next.value.item)
      else if (next.value.kind === 'walked') {
        if (!this.#spend('walked', next.value.entries)) return
        yield
      } else if (this.#spend('sent', 1)) builder.addEntry(next.value.keyed)
      else return
    }
    this.#tasks.push(task)
  }

  *#serve(task: Task & { kind: 'serve' }, builder: SyncMessageBuilder): Generator<undefined, void> {
    const snapshot = this.#init.current()
    for (let served = 1; !builder.full; served++) {
      if (served % WALK_STEP_ENTRIES === 0) yield
      const next = task.rest.next()
      if (next.done === true) return
      const { bucket, key } = next.value
      const entry = snapshot.get(bucket, key)
      if (entry !== undefined) builder.addEntry({ bucket, key, entry })
    }
    this.#tasks.push(task)
  }
}

function listRange(snapshot: Snapshot, range: PositionRange) {
  const items = []
  for (const keyed of snapshot.entriesIn(range)) items.push(listItem(snapshot, keyed))
  return { ...range, items }
}

/** Cuts a range into parts that hold equally many of our entries. */
function splitRange(snapshot: Snapshot, range: PositionRange, count: number): RangeClaim[] {
  const parts: RangeClaim[] = []
  let { from } = range
  for (let part = 1; part <= RANGE_FANOUT; part++) {
    const at = Math.floor((part * count) / RANGE_FANOUT)
    const to = part === RANGE_FANOUT ? range.to : snapshot.positionAt(range, at)
    const bounds = { from, to }
    if (isRange(bounds)) parts.push({ ...bounds, ...snapshot.summarize(bounds) })
    from = to
  }
  return parts
}
