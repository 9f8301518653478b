/**
 * Keeps a ledger equal to those of the other members. Out: what this node writes, over the topic. In: the topic's
 * blocks, and sessions that find what was missed. Beside that it says that this node is alive, reaps, and serves
 * legacy members. It holds no rule of its own about entries: the ledger judges.
 */
import {
  BUCKETS,
  type Clock,
  heartbeatValue,
  type Logger,
  type PeerId,
  type Random,
  untilAborted,
  withDeadline,
} from '@mesh/core'
import type { KeyedEntry, Ledger, LedgerEvent } from '@mesh/ledger'
import { type InitialSync, createInitialSync, type ExpectedMembers } from './presence/initial-sync.ts'
import { watchClockSteps } from './clock-steps.ts'
import { CatchUp } from './reconcile/catch-up.ts'
import { type Compression, createCompression } from './gossip/compression.ts'
import { replicationError } from './errors.ts'
import { type Contested, createContested } from './reconcile/contested.ts'
import { Heartbeat } from './presence/heartbeat.ts'
import { startAnnouncing } from './presence/keep-announced.ts'
import { startKeepingNames } from './presence/keep-names.ts'
import { SharedIdentityWatch } from './presence/shared-identity.ts'
import {
  GOSSIP_MEMORY_BYTES,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEATS_PER_LEASE,
  LEAVE_MS,
  LIVENESS_MS,
  MAX_LEDGER_ENTRIES,
  SCRUB_INTERVAL_MS,
} from './limits.ts'
import { createMembers } from './presence/members.ts'
import { LegacyMembers } from './legacy/legacy-members.ts'
import type { ReplicationChannels, ReplicationTopic } from './ports.ts'
import { Publisher } from './gossip/publisher.ts'
import { startReaper } from './presence/reaper.ts'
import { BlockReceiver } from './gossip/block-receiver.ts'
import { Reconciler } from './reconcile/reconciler.ts'
import type { SessionResult } from './reconcile/session-result.ts'
import type { ReplicationStatus } from './status.ts'
import { startWholeBlocks } from './legacy/whole-blocks.ts'

export interface ReplicatorInit {
  /** Default 120 s; 40 s at most while a legacy member is about. */
  readonly heartbeatIntervalMs?: number
  /** The ledger's liveness window; default 480 s. Must hold four heartbeats. */
  readonly livenessMs?: number
  /** Time between two looks for what can be reaped; default 600 s. */
  readonly scrubIntervalMs?: number
  /** Entries that this node's ledger may hold; default and least 200,000. A peer may hold as many. */
  readonly maxLedgerEntries?: number
  /** Bytes that gossip messages may take that wait or are inflated, all together; default 64 MiB. */
  readonly gossipMemoryBytes?: number
}

export interface ReplicatorComponents {
  readonly ledger: Ledger
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Says whom this node could ask what it missed, while it has met nobody; default `somebody`. */
  readonly expectedMembers?: () => ExpectedMembers
  /** The compressor; fflate unless given. */
  readonly compression?: Compression
}

/** @throws MeshError `replication.short_lease` */
export function createReplicator(init: ReplicatorInit, components: ReplicatorComponents): Replicator {
  const {
    heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS,
    livenessMs = LIVENESS_MS,
    scrubIntervalMs = SCRUB_INTERVAL_MS,
    gossipMemoryBytes = GOSSIP_MEMORY_BYTES,
  } = init
  const maxLedgerEntries = Math.max(init.maxLedgerEntries ?? 0, MAX_LEDGER_ENTRIES)
  if (!(heartbeatIntervalMs > 0) || livenessMs < HEARTBEATS_PER_LEASE * heartbeatIntervalMs) {
    throw replicationError(
      'replication.short_lease',
      `a lease of ${livenessMs} ms is shorter than four heartbeats of ${heartbeatIntervalMs} ms`,
      'Raise the ownership TTL, or lower the heartbeat interval.',
    )
  }
  return new Replicator(
    { heartbeatIntervalMs, livenessMs, scrubIntervalMs, maxLedgerEntries, gossipMemoryBytes },
    components,
  )
}

export class Replicator {
  readonly #components: ReplicatorComponents
  readonly #scrubIntervalMs: number
  readonly #publisher: Publisher
  readonly #receiver: BlockReceiver
  readonly #contested: Contested
  readonly #reconciler: Reconciler
  readonly #catchUp: CatchUp
  readonly #initialSync: InitialSync
  readonly #heartbeat: Heartbeat
  readonly #legacy: LegacyMembers
  readonly #announcing = new Set<() => void>()
  #identity: SharedIdentityWatch | undefined
  #ends: (() => void)[] = []
  #state: 'new' | 'started' | 'stopped' = 'new'

  constructor(init: Required<ReplicatorInit>, given: ReplicatorComponents) {
    const logger = given.logger.child('replication')
    const compression = given.compression ?? createCompression(given.clock)
    const self = given.ledger.self
    const components = { ...given, logger, compression, self }
    this.#components = components
    this.#scrubIntervalMs = init.scrubIntervalMs
    const members = createMembers(components)
    this.#publisher = new Publisher(components)
    this.#receiver = new BlockReceiver(
      {
        maxBytes: init.gossipMemoryBytes,
        onBlock: (author, form) => this.#legacy.blockTaken(author, form),
        onMember: (author) => given.topic.noteMember(author),
      },
      { ...components, members },
    )
    this.#contested = createContested({ ...components, publisher: this.#publisher })
    this.#reconciler = new Reconciler(
      {
        maxEntries: init.maxLedgerEntries,
        livenessMs: init.livenessMs,
        onSession: (result) => this.#sessionEnded(result),
        onRefusedThere: (keyed, code) => this.#contested.refusedThere(keyed, code),
      },
      components,
    )
    this.#catchUp = new CatchUp({ ...components, reconciler: this.#reconciler })
    this.#initialSync = createInitialSync({ ...components, running: () => this.#reconciler.running })
    this.#heartbeat = new Heartbeat(
      {
        intervalMs: init.heartbeatIntervalMs,
        livenessMs: init.livenessMs,
        hasLegacy: () => given.ledger.mode === 'off' || this.#legacy.areAbout(),
      },
      { ...components, initialSync: this.#initialSync },
    )
    this.#legacy = new LegacyMembers(
      { onHeard: (isFirst) => this.#legacyHeard(isFirst) },
      { ...components, members, publisher: this.#publisher },
    )
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'started'
    const { ledger, topic } = this.#components
    this.#initialSync.begin()
    this.#ends.push(topic.onMessage((message) => this.#receiver.take(message)))
    this.#ends.push(
      startReaper({
        ...this.#components,
        intervalMs: this.#scrubIntervalMs,
        syncedAt: () => this.#initialSync.readySince,
      }),
    )
    this.#heartbeat.start()
    if (ledger.mode === 'off') {
      // No catch-up in this mode, so nothing to wait for: the greater block wins whenever it comes.
      this.#initialSync.sessionSucceeded()
      // a legacy leader deletes all heartbeats now and then
      this.keepAnnounced(BUCKETS.healthcheck, ledger.self, () => heartbeatValue(this.#components.clock.now()))
      this.#ends.push(startWholeBlocks({ ...this.#components, publisher: this.#publisher }))
      return
    }
    this.#ends.push(ledger.subscribe((event) => this.#hear(event)))
    // in mode `observe` anybody may end what lives, and the ledger itself answers, within its bounds
    if (ledger.mode === 'enforce') this.#ends.push(startKeepingNames(this.#components))
    const identity = new SharedIdentityWatch({
      ...this.#components,
      compareSoon: () => this.#catchUp.compareSoon(),
    })
    this.#identity = identity
    this.#ends.push(() => identity.stop())
    this.#ends.push(watchClockSteps(() => this.#clockSet(), this.#components))
    this.#legacy.start()
    await this.#reconciler.start()
    if (this.#isRunning()) this.#catchUp.start()
  }

  /**
   * Tells the others that this node ends, which takes a second at most. Idempotent; leaves nothing running. The ledger is
   * not stopped; before `ready` it goes on holding claims.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return
    this.#state = 'stopped'
    await this.#leave()
    for (const end of [...this.#ends, ...this.#announcing]) end()
    this.#catchUp.stop()
    this.#contested.stop()
    this.#legacy.stop()
    this.#initialSync.stop()
    this.#receiver.stop()
    this.#reconciler.stop()
    this.#publisher.stop()
  }

  /** Tells the others that this node ends; not in mode `off`, where every owner counts as alive. */
  async #leave(): Promise<void> {
    const { ledger, clock } = this.#components
    if (ledger.mode === 'off') return this.#heartbeat.stop()
    const left = this.#heartbeat.leave().then(() => this.#publisher.drained())
    const reason = () => new Error('nobody took it in time')
    await withDeadline({ clock, ms: LEAVE_MS, reason }, (signal) => untilAborted(left, signal)).catch(
      () => {},
    )
  }

  /**
   * Resolves when this node knows what others did while it was away, so that it may write to owned buckets: the
   * ledger holds such writes until then. Never after `stop`.
   */
  ready(): Promise<void> {
    return this.#initialSync.wait()
  }

  /**
   * Keeps an owned entry announced, from when the node is ready; the returned function stops, and leaves the entry.
   * @param valueText the JSON text, asked for each time that it is written
   */
  keepAnnounced(bucket: string, key: string, valueText: () => string): () => void {
    const stop = startAnnouncing(
      { bucket, key, valueText },
      { ...this.#components, initialSync: this.#initialSync },
    )
    this.#announcing.add(stop)
    return () => {
      this.#announcing.delete(stop)
      stop()
    }
  }

  /** Sends entries over the topic, also those of others; for what cannot wait until ledgers are compared. */
  publish(entries: Iterable<KeyedEntry>): void {
    this.#publisher.publish(entries)
  }

  /** Compares with a peer now. Never rejects. */
  reconcile(peer: PeerId): Promise<SessionResult> {
    return this.#reconciler.reconcile(peer)
  }

  status(): ReplicationStatus {
    const { failures, refusedHere, refusedThere, running } = this.#reconciler
    return {
      ready: this.#initialSync.ready,
      readyReason: this.#initialSync.reason,
      lastHeartbeatAt: this.#heartbeat.lastAt,
      identitySharedSince: this.#identity?.since,
      sharedIdentities: this.#identity?.others() ?? [],
      leader: this.#components.ledger.leader(),
      legacyMembers: this.#legacy.list(),
      published: { ...this.#publisher.counts, wholeLedgers: this.#legacy.wholeLedgersSent },
      received: { ...this.#receiver.counts, refused: { ...this.#receiver.refused } },
      sessions: {
        running,
        failures: { ...failures },
        refusedHere: { ...refusedHere },
        refusedThere: { ...refusedThere },
      },
      peers: [...this.#reconciler.peers.all()].map(([peer, { counts }]) => ({ peer, ...counts })),
    }
  }

  /** `stop` may have come while `start` waited. */
  #isRunning(): boolean {
    return this.#state === 'started'
  }

  #hear(event: LedgerEvent): void {
    if (event.type === 'retracted' || event.type === 'contested')
      return this.#publisher.publish(event.entries)
    if (event.type === 'admission') return this.#admissionChanged()
    if (event.type === 'reconsider') return this.#reconsider()
    if (event.type === 'rejected' && event.code === 'REPLAYED') return this.#catchUp.compareSoon()
    if (event.type !== 'committed') return
    const own = event.changes.filter(({ origin }) => origin === 'local')
    if (own.length > 0) this.#publisher.publish(own)
  }

  #admissionChanged(): void {
    this.#reconciler.admissionChanged()
    this.#catchUp.compareSoon()
  }

  #clockSet(): void {
    this.#heartbeat.clockSet()
    this.#reconciler.clockSet()
    this.#catchUp.clockSet()
  }

  #reconsider(): void {
    this.#reconciler.clockSet()
    this.#catchUp.compareSoon()
  }

  #legacyHeard(isFirst: boolean): void {
    this.#initialSync.legacyBlockTaken()
    if (isFirst) this.#heartbeat.legacyHeard()
  }

  #sessionEnded(result: SessionResult): void {
    if (result.outcome !== 'failed') this.#initialSync.sessionSucceeded()
    this.#catchUp.sessionEnded(result)
  }
}
