/**
 * Finds out whether another process uses this node's identity, as after a machine was cloned or a backup restored.
 * 1 A heartbeat of this node that this process did not write is a reason to ask, and no proof: it may be an old one.
 * 2 To ask is to write a random number of this process into `identities`. 3 Another process answers: it adds its own
 * number. 4 An entry with this process's number that this process did not write is the proof, whatever clocks say: no entry
 * from before its start has the number. 5 Both say so in the entry, for all other members.
 */
import { BoundedMap, BUCKETS, type Clock, type Logger, type PeerId, type Random } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import type { Change, Ledger, LedgerEvent } from '@mesh/ledger'
import {
  IDENTITY_ANSWER_MS,
  IDENTITY_FORGET_MS,
  IDENTITY_LISTEN_MS,
  IDENTITY_RENEW_MS,
  MAX_IDENTITY_PROCESSES,
  MAX_SHARED_IDENTITIES,
  SHARED_IDENTITY_LOG_RATE,
} from '../limits.ts'
import { hexOf } from '../session/position.ts'

interface SharedIdentityComponents {
  readonly ledger: Pick<Ledger, 'self' | 'snapshot' | 'put' | 'delete' | 'subscribe'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Compares ledgers soon: gossip brings nobody what its own key signed. */
  readonly compareSoon: () => void
}

interface IdentityRecord {
  /** The numbers of processes, the last one wrote it. */
  readonly processes: readonly string[]
  /** The process that wrote it knows that there is another. */
  readonly isShared: boolean
}

const PROCESS_BYTES = 8

/** Watches the ledger from the start on. */
export class SharedIdentityWatch {
  /** The time since which another process is known to use the identity of this node, in unix ms; undefined: none is. */
  since: number | undefined
  readonly #components: SharedIdentityComponents
  /** The number of this process; undefined until it asks. */
  #process: string | undefined
  readonly #mayTell: TokenBucket
  readonly #unsubscribe: () => void
  /** Members whose last word was that two processes use their identity; the newest is last. */
  readonly #others = new BoundedMap<PeerId, true>(MAX_SHARED_IDENTITIES)
  #hasBeaten = false
  /** The version of what this process wrote last. */
  #written = 0n
  #spokeAt = Number.NEGATIVE_INFINITY
  #cancelSpeaking: (() => void) | undefined
  #cancelForgetting: () => void = () => {}
  #cancelListening: () => void = () => {}

  constructor(components: SharedIdentityComponents) {
    this.#components = components
    this.#mayTell = createTokenBucket(SHARED_IDENTITY_LOG_RATE, components.clock)
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
  }

  /** Lists the living members that say that two processes use their identity. */
  others(): readonly PeerId[] {
    const { ledger, clock } = this.#components
    const snapshot = ledger.snapshot()
    const nowMs = clock.now()
    return [...this.#others.keys()].filter((peer) => {
      const entry = snapshot.getLive(BUCKETS.identities, peer)
      const isFresh = entry !== undefined && nowMs - entry.updatedAt * 1_000 < IDENTITY_FORGET_MS
      return isFresh && snapshot.isOwnerLive(peer, nowMs)
    })
  }

  stop(): void {
    this.#unsubscribe()
    this.#cancelSpeaking?.()
    this.#cancelForgetting()
    this.#cancelListening()
  }

  #hear(event: LedgerEvent): void {
    if (event.type !== 'committed') return
    const { self } = this.#components.ledger
    for (const change of event.changes) {
      if (change.key !== change.entry.owner) continue
      if (change.key !== self) this.#hearOther(change)
      else if (change.entry.deleted) continue
      else if (change.bucket === BUCKETS.healthcheck) this.#hearHeartbeat(change)
      else if (change.bucket === BUCKETS.identities) this.#hearIdentity(change)
    }
  }

  #hearOther({ bucket, key, entry }: Change): void {
    if (bucket !== BUCKETS.identities) return
    const peer = key as PeerId
    const wasKnown = this.#others.delete(peer)
    if (entry.deleted || !readRecord(entry.value).isShared) return
    this.#others.set(peer, true)
    if (!wasKnown && this.#mayTell.take()) {
      this.#components.logger.warn('two processes use the identity of one member', { peer })
    }
  }

  /** Heartbeats of an earlier run come before the first one of this process. */
  #hearHeartbeat({ origin }: Change): void {
    if (origin === 'local') this.#hasBeaten = true
    else if (this.#hasBeaten) this.#speakIn(this.since === undefined ? IDENTITY_ANSWER_MS : IDENTITY_RENEW_MS)
  }

  #hearIdentity({ origin, entry }: Change): void {
    if (origin === 'local') {
      this.#written = entry.version
      return
    }
    const { processes } = readRecord(entry.value)
    const hasOwn = this.#process !== undefined && processes.includes(this.#process)
    const isProof = hasOwn && entry.version > this.#written
    const wasKnown = this.since !== undefined
    if (isProof) this.#found()
    this.#speakIn(wasKnown ? IDENTITY_RENEW_MS : IDENTITY_ANSWER_MS)
  }

  #found(): void {
    const { clock, logger, ledger } = this.#components
    if (this.since === undefined) {
      this.since = clock.now()
      logger.error('another process uses the identity of this node', { peer: ledger.self })
    }
    this.#forgetLater()
  }

  #speakIn(delayMs: number): void {
    const { clock } = this.#components
    const waitMs = Math.max(0, this.#spokeAt + delayMs - clock.monotonic())
    this.#cancelSpeaking ??= clock.after(waitMs, () => {
      this.#cancelSpeaking = undefined
      this.#speak()
    })
  }

  #speak(): void {
    const { ledger, clock, logger, random } = this.#components
    this.#spokeAt = clock.monotonic()
    const own = (this.#process ??= hexOf(random.bytes(PROCESS_BYTES)))
    const held = ledger.snapshot().getLive(BUCKETS.identities, ledger.self)
    const heard = held?.owner === ledger.self ? readRecord(held.value).processes : []
    const others = heard.filter((process) => process !== own).slice(1 - MAX_IDENTITY_PROCESSES)
    const record = {
      Processes: [...others, own],
      Shared: this.since !== undefined,
      // the same text twice would be no write
      At: new Date(clock.now()).toISOString(),
    }
    try {
      void ledger.put(BUCKETS.identities, ledger.self, JSON.stringify(record)).settled
    } catch (error) {
      logger.debug('identity not told', { error })
    }
    if (this.since !== undefined) return
    this.#forgetLater()
    this.#listen()
  }

  /** Looks for an answer until it is proof, or for as long as one is waited for. */
  #listen(): void {
    const { clock, compareSoon } = this.#components
    this.#cancelListening()
    compareSoon()
    this.#cancelListening = clock.after(IDENTITY_LISTEN_MS, () => {
      if (this.since === undefined) this.#listen()
    })
  }

  /** Nobody else has written for long: what was asked or found is over. */
  #forgetLater(): void {
    this.#cancelForgetting()
    this.#cancelForgetting = this.#components.clock.after(IDENTITY_FORGET_MS, () => this.#forget())
  }

  #forget(): void {
    const { ledger, logger } = this.#components
    if (this.since !== undefined) logger.info('no other process uses the identity of this node any more')
    this.since = undefined
    this.#cancelSpeaking?.()
    this.#cancelSpeaking = undefined
    this.#cancelListening()
    try {
      void ledger.delete(BUCKETS.identities, ledger.self).settled
    } catch (error) {
      logger.debug('identity not taken back', { error })
    }
  }
}

/** Reads what any member may have written: numbers and marks that are none are left out. */
function readRecord(valueText: string): IdentityRecord {
  try {
    const value: unknown = JSON.parse(valueText)
    if (typeof value !== 'object' || value === null) return NO_RECORD
    const { Processes: processes, Shared: shared } = value as Readonly<Record<string, unknown>>
    const texts = Array.isArray(processes) ? processes.slice(-MAX_IDENTITY_PROCESSES) : []
    return {
      processes: texts.filter((process) => typeof process === 'string' && PROCESS.test(process)),
      isShared: shared === true,
    }
  } catch {
    return NO_RECORD
  }
}

const PROCESS = /^[0-9a-f]{16}$/
const NO_RECORD: IdentityRecord = { processes: [], isShared: false }
