/**
 * A ledger: the state, and the two ways into it.
 *
 * Local write: 1 form and rules, refused at once; 2 queue; 3 version and signature; 4 the same rules again; 5 store,
 * then the new snapshot; 6 events. Entries of others: 1 decode; 2 judge, verify; 3 store; 4 events; 5 races.
 */
import { type Clock, type Logger, type MeshError, type PeerId, silentLogger, systemClock } from '@mesh/core'
import { createAdmission, verifyEntry } from './rules/admission.ts'
import { BlockIntake, type Refused } from './blocks/block-intake.ts'
import type { Entry, KeyedEntry } from './entries/entry.ts'
import type {
  BucketDelete,
  Change,
  Ledger,
  LedgerErrorCode,
  LedgerEvent,
  MergeResult,
  OwnershipMode,
  ReapResult,
  Withdrawn,
  Write,
} from './ledger.ts'
import { notStored, stopped } from './ledger-errors.ts'
import type { LedgerComponents, LedgerInit } from './ledger-init.ts'
import { createLedgerEvents, type LedgerEvents } from './ledger-events.ts'
import { LedgerState, type StateEdit } from './state/ledger-state.ts'
import {
  DEFAULT_LIVENESS_MS,
  DEFAULT_TOMBSTONE_TTL_MS,
  defaultLedgerLimits,
  MAX_COLLECTED_AT_ONCE,
} from './limits.ts'
import { ClockCheck, type ClockOffset } from './rules/clock-check.ts'
import type { Verdict } from './rules/judge.ts'
import { isLiveAt } from './state/liveness.ts'
import { FutureEntries } from './writes/future-entries.ts'
import { createLocalWriter, type LocalWriter, signEntry } from './writes/local-write.ts'
import { LocalWrites } from './writes/local-writes.ts'
import { type BucketPolicy, defaultPolicies, holderOf } from './rules/policy.ts'
import { ClaimAnswers } from './merging/claim-answers.ts'
import { EntryMerger, type MergeSource } from './merging/entry-merger.ts'
import { findReapable, reapingLeader, reapsAfter } from './rules/reap.ts'
import { createRetractions } from './merging/retractions.ts'
import { OwnershipRaces } from './merging/ownership-races.ts'
import { type Verify, verifySignature } from './entries/signer.ts'
import type { Snapshot } from './snapshot.ts'
import { createMemoryStore, type StoredLedger } from './state/store.ts'
import { type StoreFailure, WatchedStore } from './state/watched-store.ts'
import { LostWrites } from './legacy/lost-writes.ts'
import { receiveWholeBlock } from './legacy/whole-block.ts'
import { createWriteCommitter, evictions } from './writes/write-committer.ts'
import { WriteQueue } from './writes/write-queue.ts'

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

/** The parts from outside that judging the entries of others takes. */
type MergerParts = Required<Pick<LedgerComponents, 'signer' | 'verify' | 'admits'>>

class MeshLedger implements Ledger {
  readonly self: PeerId
  readonly mode: OwnershipMode
  readonly #clock: Clock
  readonly #log: Logger
  readonly #store: WatchedStore
  readonly #state: LedgerState
  readonly #events: LedgerEvents
  readonly #queue: WriteQueue
  readonly #writes: LocalWrites
  readonly #merger: EntryMerger
  readonly #intake: BlockIntake
  readonly #races: OwnershipRaces
  readonly #clockCheck: ClockCheck
  readonly #futureEntries: FutureEntries
  /** Undefined unless ownership is off. */
  readonly #lostWrites: LostWrites | undefined
  readonly #policies: ReadonlyMap<string, BucketPolicy>
  readonly #livenessMs: number
  readonly #tombstoneTtlMs: number
  readonly #admits: (owner: string, bucket?: string, held?: KeyedEntry) => boolean
  readonly #stopping = new AbortController()
  readonly #isReplaceable = (entry: Entry) => this.#futureEntries.isReplaceable(entry)
  readonly #policyOf = (bucket: string): BucketPolicy | undefined =>
    this.mode === 'off' ? undefined : this.#policies.get(bucket)

  constructor(init: LedgerInit, components: LedgerComponents) {
    const { signer, verify = verifySignature, admits = () => true } = components
    this.self = signer.peerId
    this.mode = init.mode ?? 'enforce'
    this.#clock = components.clock ?? systemClock
    this.#log = (components.logger ?? silentLogger).child('ledger')
    this.#store = new WatchedStore(components.store ?? createMemoryStore(), {
      clock: this.#clock,
      log: this.#log,
      onStoredAgain: () => this.#events.emit({ type: 'reconsider' }),
    })
    this.#policies = new Map(Object.entries(init.policies ?? defaultPolicies))
    this.#livenessMs = init.livenessMs ?? DEFAULT_LIVENESS_MS
    this.#tombstoneTtlMs = init.tombstoneTtlMs ?? DEFAULT_TOMBSTONE_TTL_MS
    this.#admits = admits
    this.#state = new LedgerState({
      store: this.#store,
      limits: { ...defaultLedgerLimits, ...init.limits },
      livenessMs: this.mode === 'off' ? undefined : this.#livenessMs,
      now: () => this.#clock.now(),
      admits,
      self: this.self,
      isOpen: (bucket) => this.#policyOf(bucket) === undefined,
    })
    this.#events = createLedgerEvents(this.#log)
    this.#races = new OwnershipRaces(this.self, this.#clock)
    this.#clockCheck = new ClockCheck(this.#clock)
    this.#futureEntries = new FutureEntries({
      self: this.self,
      clock: this.#clock,
      clockCheck: this.#clockCheck,
      state: this.#state,
      submit: (write) => void this.#queue.submit(write),
      onRight: () => this.#events.emit({ type: 'reconsider' }),
    })
    const writer = createLocalWriter({ ...this.#rules(), signer, isReplaceable: this.#isReplaceable })
    this.#queue = this.#createQueue(writer)
    this.#writes = new LocalWrites({ ...this.#rules(), writer, queue: this.#queue })
    this.#merger = this.#createMerger({ signer, verify, admits })
    this.#intake = this.#createIntake()
    this.#lostWrites = this.mode === 'off' ? this.#createLostWrites() : undefined
  }

  snapshot(): Snapshot {
    return this.#state.snapshot()
  }

  admits(owner: string): boolean {
    return this.#admits(owner)
  }

  admissionChanged(): void {
    this.#events.emit({ type: 'admission' })
  }

  put(bucket: string, key: string, valueText: string): Write {
    this.#checkRunning()
    return this.#writes.write({ position: { bucket, key }, value: valueText })
  }

  delete(bucket: string, key: string): Write {
    this.#checkRunning()
    return this.#writes.write({ position: { bucket, key }, value: undefined })
  }

  deleteBucket(bucket: string, keeps: (key: string) => boolean = () => false): BucketDelete {
    this.#checkRunning()
    return this.#writes.deleteBucket(bucket, keeps)
  }

  merge(entries: Iterable<KeyedEntry>, author: PeerId | undefined): MergeResult {
    if (this.mode === 'off' || this.#stopping.signal.aborted) return NOTHING
    return this.#merge(entries, { author, health: this.#state.tree, isHeldBySender: true })
  }

  async receiveBlock(text: Uint8Array, author: PeerId | undefined): Promise<MergeResult> {
    if (this.#stopping.signal.aborted) return NOTHING
    try {
      if (this.mode !== 'off') return await this.#intake.take(text, author ?? '')
      this.#lostWrites?.heard()
      return await receiveWholeBlock(text, {
        state: this.#state,
        events: this.#events,
        clock: this.#clock,
        signal: this.#stopping.signal,
        log: this.#log,
        refuse: (refused) => this.#refuseUnread(refused, author),
      })
    } catch (error) {
      if (this.#stopping.signal.aborted) return NOTHING
      throw error
    }
  }

  subscribe(listener: (event: LedgerEvent) => void): () => void {
    return this.#events.subscribe(listener)
  }

  rejections(): ReturnType<Ledger['rejections']> {
    return this.#events.rejections()
  }

  conflicts() {
    this.#resolveConflicts()
    return this.#races.conflicts.list()
  }

  leader(): string | undefined {
    return reapingLeader(this.#state.tree, this.#election())
  }

  #election() {
    return { nowMs: this.#clock.now(), livenessMs: this.#livenessMs, admits: this.#admits }
  }

  reap(draw = 1): ReapResult {
    this.#resolveConflicts()
    if (this.mode === 'off' || this.#stopping.signal.aborted) return NOTHING_REAPED
    const election = this.#election()
    const overdueMs = reapsAfter(this.#state.tree, this.self, draw, election)
    const { collect, expired } = findReapable(this.#state.tree, {
      nowMs: election.nowMs,
      livenessMs: this.#livenessMs,
      overdueMs: overdueMs ?? 0,
      tombstoneTtlMs: this.#tombstoneTtlMs,
      policyOf: this.#policyOf,
    })
    const collected = this.#collect(collect.slice(0, MAX_COLLECTED_AT_ONCE))
    const hasMore = collected > 0 && collect.length > collected
    if (overdueMs === undefined) return { collected, hasMore, ended: 0 }
    const ended = expired.filter((position) => this.#queue.pending(position) === undefined)
    for (const position of ended) void this.#queue.submit({ position, value: undefined })
    return { collected, hasMore, ended: ended.length }
  }

  withdraw(...[owners, keeps, from]: Parameters<Ledger['withdraw']>): Withdrawn {
    if (this.mode === 'off' || this.#stopping.signal.aborted) return { count: 0, next: undefined }
    const edit = this.#state.edit()
    const isOut = (row: KeyedEntry) =>
      owners.has(row.entry.owner as PeerId) && !this.#admits(row.entry.owner, row.bucket) && !keeps(row)
    const { count, next } = edit.forgetSome(isOut, from)
    return { count: this.#commit(edit, [...evictions(edit)]) === undefined ? count : 0, next }
  }

  holdClaims(): void {
    this.#queue.hold()
  }

  releaseClaims(): void {
    this.#queue.release()
  }

  storeFailure(): StoreFailure | undefined {
    return this.#store.failure
  }

  contents(): StoredLedger {
    return this.#state.contents()
  }

  clockTold(member: PeerId, nowMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#clockCheck.told(member, nowMs)
    if (this.mode === 'enforce') this.#futureEntries.replace()
  }

  clockOffset(): ClockOffset | undefined {
    return this.#clockCheck.offset()
  }

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#queue.flush()
    this.#stopping.abort(stopped())
    this.#queue.dropHeld({ state: 'refused', error: stopped() })
    this.#store.close()
  }

  /** Gives the state and the settings that the parts of a ledger share. */
  #rules() {
    return {
      self: this.self,
      mode: this.mode,
      livenessMs: this.#livenessMs,
      policyOf: this.#policyOf,
      state: this.#state,
      races: this.#races,
      now: () => this.#clock.now(),
    }
  }

  #createQueue(writer: LocalWriter): WriteQueue {
    return new WriteQueue({
      clock: this.#clock,
      isOwned: (bucket) => this.#policyOf(bucket) !== undefined,
      commit: createWriteCommitter({
        ...this.#rules(),
        writer,
        commit: (edit, changes) => this.#commit(edit, changes),
      }),
    })
  }

  #createMerger({ signer, verify, admits }: MergerParts): EntryMerger {
    const rules = this.#rules()
    const events = this.#events
    return new EntryMerger({
      ...rules,
      admit: createAdmission({ ...rules, verify, admits, isReplaceable: this.#isReplaceable }),
      commit: (edit, changes) => this.#commit(edit, changes) === undefined,
      events,
      queue: this.#queue,
      answers: new ClaimAnswers({ ...rules, clock: this.#clock, events, signal: this.#stopping.signal }),
      onHeartbeat: (heartbeat, verdict) => this.#hearClock(heartbeat, verdict, verify),
      retract: createRetractions({
        self: this.self,
        clock: this.#clock,
        mayEnd: (bucket, owner) => this.#mayEnd(bucket, owner),
        leads: () => this.leader() === this.self,
        verify: (keyed) => verifyEntry(keyed, verify),
        sign: (unsigned) => signEntry(unsigned, signer),
      }),
    })
  }

  #createLostWrites(): LostWrites {
    const lostWrites = new LostWrites({
      self: this.self,
      clock: this.#clock,
      signal: this.#stopping.signal,
      submit: (write) => {
        if (this.#queue.pending(write.position) === undefined) void this.#queue.submit(write)
      },
    })
    this.#events.subscribe((event) => lostWrites.hear(event))
    return lostWrites
  }

  #createIntake(): BlockIntake {
    return new BlockIntake({
      clock: this.#clock,
      signal: this.#stopping.signal,
      begin: (author) => {
        const source = { author: toAuthor(author), health: this.#state.tree, isHeldBySender: false }
        return (entries) => this.#merge(entries, source)
      },
      refuse: (refused, author) => this.#refuseUnread(refused, toAuthor(author)),
    })
  }

  #merge(entries: Iterable<KeyedEntry>, source: MergeSource): MergeResult {
    const result = this.#merger.merge(entries, source)
    if (this.mode === 'enforce') this.#futureEntries.replace()
    return result
  }

  #mayEnd(bucket: string, owner: string): boolean {
    return (
      this.#policyOf(bucket) === undefined ||
      !isLiveAt(this.#state.tree, owner, this.#clock.now(), this.#livenessMs)
    )
  }

  /** Makes the edit a block and tells of it; the failure when the store would not take it. */
  #commit(edit: StateEdit, changes: readonly Change[]): MeshError<LedgerErrorCode> | undefined {
    if (edit.size === 0) return undefined
    this.#futureEntries.noteTime()
    try {
      const head = edit.commit()
      this.#events.emit({ type: 'committed', head, changes })
      this.#resolveConflicts()
      return undefined
    } catch (cause) {
      this.#log.debug('block not stored', { error: cause })
      return notStored(cause)
    }
  }

  /**
   * Judges this machine's clock by a heartbeat. Of one from the future nothing was verified yet; it tells of this machine's clock
   * as much as of the member's.
   */
  #hearClock(heartbeat: KeyedEntry, verdict: Verdict, verify: Verify): void {
    const { owner, version } = heartbeat.entry
    if (owner === this.self) return
    const isGenuine =
      verdict === 'accept' || verdict === 'same' || (verdict === 'FUTURE' && verifyEntry(heartbeat, verify))
    if (isGenuine) this.#clockCheck.heard(owner, version)
  }

  #collect(tombstones: readonly KeyedEntry[]): number {
    const edit = this.#state.edit()
    for (const tombstone of tombstones) edit.remove(tombstone)
    return this.#commit(edit, []) === undefined ? tombstones.length : 0
  }

  #refuseUnread({ bucket, key, code }: Refused, author: PeerId | undefined): void {
    this.#events.reject({ bucket, key, entry: UNREAD }, code, author)
  }

  /** Ends the conflicts of which one side is gone: another holder, a tombstone, an owner without heartbeat. */
  #resolveConflicts(): void {
    const { tree } = this.#state
    const nowMs = this.#clock.now()
    const over = this.#races.conflicts.resolve(({ bucket, key, owners: [holder, ...claimants] }) => {
      const entry = this.snapshot().getLive(bucket, key)
      if (entry === undefined || holderOf(this.#policyOf(bucket), key, entry) !== holder) return true
      return !claimants.some((claimant) => isLiveAt(tree, claimant, nowMs, this.#livenessMs))
    })
    for (const { bucket, key, owners } of over) {
      this.#events.emit({ type: 'conflict', bucket, key, owners, resolved: true })
    }
  }

  #checkRunning(): void {
    if (this.#stopping.signal.aborted) throw stopped()
  }
}

const NOTHING: MergeResult = { accepted: 0, unchanged: 0, rejected: [] }
const NOTHING_REAPED: ReapResult = { collected: 0, hasMore: false, ended: 0 }
/** Stands for an entry that could not be read. */
const UNREAD: Entry = { value: '', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }

function toAuthor(name: string): PeerId | undefined {
  return name === '' ? undefined : (name as PeerId)
}
