/**
 * A ledger: the state, and the two ways into it.
 *
 * Local write: 1 form and rules, refused at once; 2 queue; 3 version and signature; 4 the same rules again; 5 store,
 * then the new snapshot; 6 events. Entries of others: 1 decode; 2 judge, verify; 3 store; 4 events; 5 rivalry.
 */
import { type Clock, type Logger, type MeshError, type PeerId, silentLogger, systemClock } from '@mesh/core'
import { createAdmission, verifyEntry } from './admission.ts'
import { createIntake, type Intake, type Refused } from './block-intake.ts'
import type { Entry, KeyedEntry } from './entry.ts'
import type {
  BucketDelete,
  Change,
  Ledger,
  LedgerErrorCode,
  LedgerEvent,
  MergeResult,
  OwnershipMode,
  ReapResult,
  RejectionCode,
  Write,
  WriteOutcome,
} from './ledger.ts'
import { notStored, overQuota, stopped } from './ledger-errors.ts'
import { createLedgerEvents, type LedgerEvents } from './ledger-events.ts'
import { createLedgerState, type LedgerState, type StateEdit } from './ledger-state.ts'
import {
  DEFAULT_LIVENESS_MS,
  DEFAULT_TOMBSTONE_TTL_MS,
  defaultLedgerLimits,
  type LedgerLimits,
  MAX_COLLECTED_AT_ONCE,
} from './limits.ts'
import { isLiveAt } from './liveness.ts'
import { createLocalWriter, type LocalWrite, type LocalWriter, signEntry } from './local-write.ts'
import { type BucketPolicy, defaultPolicies, holderOf, type PolicyTable } from './policy.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import { findReapable, reapingLeader } from './reap.ts'
import { createRetractions } from './retractions.ts'
import { createRivalry, type Rivalry } from './rivalry.ts'
import { type Signer, type Verify, verifySignature } from './signer.ts'
import type { Position, Snapshot } from './snapshot.ts'
import { createMemoryStore, type Store } from './store.ts'
import { adoptBlock } from './whole-block.ts'
import { createWriteQueue, type PendingWrite, type WriteQueue } from './write-queue.ts'

export interface LedgerInit {
  /** Default `enforce`. */
  readonly mode?: OwnershipMode
  /** Owned buckets; default `defaultPolicies`. To add one: `{ ...defaultPolicies, notes: ownedByKey }`. */
  readonly policies?: PolicyTable
  /** How long a heartbeat keeps its owner's entries; default 480 s. */
  readonly livenessMs?: number
  /** Age at which tombstones are collected; default 2700 s. */
  readonly tombstoneTtlMs?: number
  /** Bounds that differ from `defaultLedgerLimits`. */
  readonly limits?: Partial<LedgerLimits>
}

export interface LedgerComponents {
  /** Signs as this node; its peer id is `ledger.self`. */
  readonly signer: Signer
  /** Default: plain JavaScript; `createNodeVerifier` of `@mesh/ledger/node` is ten times faster there. */
  readonly verify?: Verify
  readonly clock?: Clock
  /** Default: memory only. Closed by `stop`. */
  readonly store?: Store
  readonly logger?: Logger
  /** False for owners whose entries are refused (`GATED`). */
  readonly admits?: (owner: string) => boolean
}

/**
 * Opens a ledger over its store; nothing runs until it is used.
 * @throws MeshError `ledger.store_damaged` and what the store throws
 */
export function createLedger(init: LedgerInit, components: LedgerComponents): Ledger {
  try {
    return new MeshLedger(init, components)
  } catch (error) {
    components.store?.close()
    throw error
  }
}

class MeshLedger implements Ledger {
  readonly self: PeerId
  readonly mode: OwnershipMode
  readonly #clock: Clock
  readonly #log: Logger
  readonly #store: Store
  readonly #state: LedgerState
  readonly #events: LedgerEvents
  readonly #writer: LocalWriter
  readonly #queue: WriteQueue
  readonly #receiver: Receiver
  readonly #intake: Intake
  readonly #rivalry: Rivalry
  readonly #policies: ReadonlyMap<string, BucketPolicy>
  readonly #livenessMs: number
  readonly #tombstoneTtlMs: number
  readonly #stopping = new AbortController()

  constructor(init: LedgerInit, components: LedgerComponents) {
    const { signer, verify = verifySignature, admits = () => true } = components
    this.self = signer.peerId
    this.mode = init.mode ?? 'enforce'
    this.#clock = components.clock ?? systemClock
    this.#log = (components.logger ?? silentLogger).child('ledger')
    this.#store = components.store ?? createMemoryStore()
    this.#policies = new Map(Object.entries(init.policies ?? defaultPolicies))
    const livenessMs = init.livenessMs ?? DEFAULT_LIVENESS_MS
    this.#livenessMs = livenessMs
    this.#tombstoneTtlMs = init.tombstoneTtlMs ?? DEFAULT_TOMBSTONE_TTL_MS
    const now = () => this.#clock.now()
    const policyOf = this.#policyOf
    const state = createLedgerState({
      store: this.#store,
      limits: { ...defaultLedgerLimits, ...init.limits },
      livenessMs: this.mode === 'off' ? undefined : livenessMs,
      now,
    })
    this.#state = state
    this.#events = createLedgerEvents(this.#log)
    this.#writer = createLocalWriter({ mode: this.mode, signer, policyOf, livenessMs })
    const isOwned = (bucket: string) => policyOf(bucket) !== undefined
    this.#queue = createWriteQueue({
      clock: this.#clock,
      isOwned,
      commit: (writes) => this.#commitWrites(writes),
    })
    this.#rivalry = createRivalry(this.self)
    this.#receiver = createReceiver({
      self: this.self,
      livenessMs,
      policyOf,
      state,
      now,
      admit: createAdmission({ mode: this.mode, state, policyOf, livenessMs, verify, admits }),
      commit: (edit, changes) => this.#commit(edit, changes) === undefined,
      events: this.#events,
      rivalry: this.#rivalry,
      queue: this.#queue,
      retract: createRetractions({
        self: this.self,
        mayEnd: (bucket, owner) =>
          this.leader() === this.self &&
          (policyOf(bucket) === undefined || !isLiveAt(state.tree, owner, now(), livenessMs)),
        verify: (keyed) => verifyEntry(keyed, verify),
        sign: (unsigned) => signEntry(unsigned, signer),
      }),
    })
    this.#intake = createIntake({
      clock: this.#clock,
      signal: this.#stopping.signal,
      begin: (author) => {
        const health = state.tree
        return (entries) => this.#receiver.take(entries, toAuthor(author), health)
      },
      refuse: (refused, author) => this.#refuseUnread(refused, toAuthor(author)),
    })
  }

  snapshot(): Snapshot {
    return this.#state.snapshot()
  }

  put(bucket: string, key: string, valueText: string): Write {
    return this.#write({ position: { bucket, key }, value: valueText })
  }

  delete(bucket: string, key: string): Write {
    return this.#write({ position: { bucket, key }, value: undefined })
  }

  deleteBucket(bucket: string, keeps: (key: string) => boolean = () => false): BucketDelete {
    this.#checkRunning()
    const refused: { key: string; owner: string }[] = []
    const deletable: Position[] = []
    let firstRefusal: MeshError<LedgerErrorCode> | undefined
    const open = this.#policyOf(bucket) === undefined
    for (const { key, entry } of this.snapshot().entries(bucket)) {
      if (entry.deleted) continue
      const refusal = open ? undefined : this.#refusalOf({ position: { bucket, key }, value: undefined })
      firstRefusal ??= refusal
      if (refusal === undefined && !keeps(key)) deletable.push({ bucket, key })
      else refused.push({ key, owner: holderOf(this.#policyOf(bucket), key, entry) })
    }
    const waiting = this.#queue.puts(bucket).filter(({ position }) => !keeps(position.key))
    if (firstRefusal !== undefined && deletable.length + waiting.length === 0) throw firstRefusal
    for (const { position } of waiting) this.#queue.cancel(position, { state: 'superseded' })
    const outcomes = deletable.map((position) => this.#queue.submit({ position, value: undefined }))
    return { refused, deleting: deletable.length, settled: this.#settleAll(outcomes) }
  }

  merge(entries: Iterable<KeyedEntry>, author: PeerId | undefined): MergeResult {
    if (this.mode === 'off' || this.#stopping.signal.aborted) return NOTHING
    return this.#receiver.take(entries, author, this.#state.tree)
  }

  async receiveBlock(json: Uint8Array, author: PeerId | undefined): Promise<MergeResult> {
    if (this.#stopping.signal.aborted) return NOTHING
    if (this.mode === 'off') return this.#adopt(json, author)
    try {
      return await this.#intake(json, author ?? '')
    } catch (error) {
      if (this.#stopping.signal.aborted) return NOTHING
      throw error
    }
  }

  subscribe(listener: (event: LedgerEvent) => void): () => void {
    return this.#events.subscribe(listener)
  }

  rejections(): Readonly<Partial<Record<RejectionCode, number>>> {
    return this.#events.rejections()
  }

  conflicts() {
    this.#resolveConflicts()
    return this.#rivalry.conflicts.list()
  }

  leader(): string | undefined {
    return reapingLeader(this.#state.tree, this.#clock.now(), this.#livenessMs)
  }

  reap(): ReapResult {
    this.#resolveConflicts()
    if (this.mode === 'off' || this.#stopping.signal.aborted) return { collected: 0, ended: 0 }
    const nowMs = this.#clock.now()
    const { collect, expired } = findReapable(this.#state.tree, {
      nowMs,
      livenessMs: this.#livenessMs,
      tombstoneTtlMs: this.#tombstoneTtlMs,
      policyOf: this.#policyOf,
    })
    const collected = this.#collect(collect.slice(0, MAX_COLLECTED_AT_ONCE))
    if (this.leader() !== this.self) return { collected, ended: 0 }
    const ended = expired.filter((position) => this.#queue.pending(position) === undefined)
    for (const position of ended) void this.#queue.submit({ position, value: undefined })
    return { collected, ended: ended.length }
  }

  holdClaims(): void {
    this.#queue.hold()
  }

  releaseClaims(): void {
    this.#queue.release()
  }

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#queue.flush()
    this.#stopping.abort(stopped())
    this.#queue.dropHeld({ state: 'refused', error: stopped() })
    this.#store.close()
  }

  readonly #policyOf = (bucket: string): BucketPolicy | undefined =>
    this.mode === 'off' ? undefined : this.#policies.get(bucket)

  #write(write: LocalWrite): Write {
    this.#checkRunning()
    this.#writer.checkForm(write)
    const existing = this.snapshot().get(write.position.bucket, write.position.key)
    if (!this.#writer.changesNothing(write, existing)) {
      const refusal = this.#refusalOf(write)
      if (refusal !== undefined) throw refusal
    } else if (!this.#queue.holds(write.position.bucket)) {
      this.#queue.cancel(write.position, { state: 'superseded' })
      return { settled: Promise.resolve({ state: 'committed', block: this.#state.head.index }) }
    }
    return { settled: this.#queue.submit(write) }
  }

  #refusalOf(write: LocalWrite): MeshError<LedgerErrorCode> | undefined {
    const existing = this.snapshot().get(write.position.bucket, write.position.key)
    const buried = this.#state.burials.versionOf(write.position)
    return this.#writer.refusal(write, { existing, buried, tree: this.#state.tree, nowMs: this.#clock.now() })
  }

  /** One block of local writes. */
  #commitWrites(writes: Iterable<PendingWrite>): void {
    const edit = this.#state.edit()
    const changes: Change[] = []
    const applied: PendingWrite[] = []
    for (const write of writes) {
      const outcome = this.#applyWrite(write, edit, changes)
      if (outcome === undefined) applied.push(write)
      else write.settle(outcome)
    }
    const failure = this.#commit(edit, changes)
    const block = this.#state.head.index
    for (const { settle } of applied) {
      settle(failure === undefined ? { state: 'committed', block } : { state: 'refused', error: failure })
    }
  }

  /** Undefined when the write is part of the edit; else what became of it. */
  #applyWrite(write: PendingWrite, edit: StateEdit, changes: Change[]): WriteOutcome | undefined {
    const before = edit.get(write.position)
    const nowMs = this.#clock.now()
    const buried = this.#state.burials.versionOf(write.position)
    const ground = { existing: before?.entry, buried, tree: edit.tree, nowMs }
    if (this.#writer.changesNothing(write, before?.entry)) return undefined
    const refusal = this.#writer.refusal(write, ground)
    if (refusal !== undefined) return { state: 'refused', error: refusal }
    const row = this.#writer.build(write, ground)
    if (!this.#state.quota.admits(row, before)) return { state: 'refused', error: overQuota(row) }
    if (this.mode === 'off' && row.entry.deleted) edit.remove(row)
    else edit.put(row)
    changes.push({ ...row, previous: before?.entry, origin: 'local' })
    this.#noteClaim(row, before, nowMs)
    return undefined
  }

  #noteClaim(row: KeyedEntry, before: KeyedEntry | undefined, nowMs: number): void {
    const policy = this.#policyOf(row.bucket)
    if (policy === undefined || row.entry.deleted) return
    const held = before !== undefined && !before.entry.deleted && before.entry.owner === this.self
    if (!held) this.#rivalry.claimed(row, row.entry.version, nowMs)
  }

  /** Makes the edit a block and tells of it; the failure when the store would not take it. */
  #commit(edit: StateEdit, changes: readonly Change[]): MeshError<LedgerErrorCode> | undefined {
    if (edit.size === 0) return undefined
    try {
      const head = edit.commit()
      this.#events.emit({ type: 'committed', head, changes })
      this.#resolveConflicts()
      return undefined
    } catch (cause) {
      this.#log.error('block not stored', { error: cause })
      return notStored(cause)
    }
  }

  #collect(tombstones: readonly KeyedEntry[]): number {
    const edit = this.#state.edit()
    for (const tombstone of tombstones) edit.remove(tombstone)
    return this.#commit(edit, []) === undefined ? tombstones.length : 0
  }

  async #adopt(json: Uint8Array, author: PeerId | undefined): Promise<MergeResult> {
    try {
      const adoption = adoptBlock(json, this.#state, (refused) => this.#refuseUnread(refused, author))
      if (adoption.changes.length > 0) {
        this.#events.emit({ type: 'committed', head: this.#state.head, changes: adoption.changes })
      }
      return adoption.result
    } catch (error) {
      this.#log.error('block not stored', { error })
      return NOTHING
    }
  }

  #refuseUnread({ bucket, key, code }: Refused, author: PeerId | undefined): void {
    this.#events.reject({ bucket, key, entry: UNREAD }, code, author)
  }

  /** Ends the conflicts of which one side is gone: another holder, a tombstone, an owner without heartbeat. */
  #resolveConflicts(): void {
    const { tree } = this.#state
    const nowMs = this.#clock.now()
    const over = this.#rivalry.conflicts.resolve(({ bucket, key, owners: [holder, ...claimants] }) => {
      const entry = this.snapshot().getLive(bucket, key)
      if (entry === undefined || holderOf(this.#policyOf(bucket), key, entry) !== holder) return true
      return !claimants.some((claimant) => isLiveAt(tree, claimant, nowMs, this.#livenessMs))
    })
    for (const { bucket, key, owners } of over) {
      this.#events.emit({ type: 'conflict', bucket, key, owners, resolved: true })
    }
  }

  async #settleAll(outcomes: readonly Promise<WriteOutcome>[]): Promise<WriteOutcome> {
    const settled = await Promise.all(outcomes)
    const refused = settled.find(({ state }) => state === 'refused')
    if (refused !== undefined) return refused
    const blocks = settled.map((outcome) => (outcome.state === 'committed' ? outcome.block : 0))
    const block = blocks.reduce((last, next) => Math.max(last, next), 0)
    return block > 0 || settled.length === 0
      ? { state: 'committed', block: block || this.#state.head.index }
      : { state: 'superseded' }
  }

  #checkRunning(): void {
    if (this.#stopping.signal.aborted) throw stopped()
  }
}

const NOTHING: MergeResult = { accepted: 0, unchanged: 0, rejected: [] }
/** Stands for an entry that could not be read. */
const UNREAD: Entry = { value: '', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }

function toAuthor(name: string): PeerId | undefined {
  return name === '' ? undefined : (name as PeerId)
}
