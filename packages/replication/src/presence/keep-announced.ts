/**
 * Keeps one owned entry announced. Writes it when it is missing or names another peer. Waits while another live owner holds
 * it, and takes it when that lease ends.
 */
import { type Clock, type Logger, MeshError, type Random } from '@mesh/core'
import type { Ledger, Position } from '@mesh/ledger'
import type { InitialSync } from './initial-sync.ts'
import {
  ANNOUNCE_LEAST_RETRY_MS,
  ANNOUNCE_RETRY_MS,
  OFF_REPEAT_SPREAD_MS,
  YIELD_PAUSE_MS,
} from '../limits.ts'

export interface AnnounceInit extends Position {
  /** JSON text; asked for each time that it is written. */
  readonly valueText: () => string
}

export interface AnnounceComponents {
  readonly ledger: Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'put' | 'subscribe'>
  readonly initialSync: Pick<InitialSync, 'wait' | 'ready'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** The returned function stops announcing; the entry stays until its lease ends or somebody deletes it. */
export function startAnnouncing(init: AnnounceInit, components: AnnounceComponents): () => void {
  const announcer = new Announcer(init, components)
  return () => announcer.stop()
}

class Announcer {
  readonly #init: AnnounceInit
  readonly #components: AnnounceComponents
  readonly #unsubscribe: () => void
  #cancel: () => void = () => {}
  #stopped = false
  /** An entry of an earlier run may say something older. */
  #written = false
  #told = false
  /** The time before which nothing is announced again, in monotonic ms. */
  #notBefore = Number.NEGATIVE_INFINITY

  constructor(init: AnnounceInit, components: AnnounceComponents) {
    this.#init = init
    this.#components = components
    const { bucket, key } = init
    this.#unsubscribe = components.ledger.subscribe((event) => {
      if (event.type === 'yielded' && event.bucket === bucket && event.key === key) {
        this.#notBefore = components.clock.monotonic() + YIELD_PAUSE_MS
      }
      if (event.type !== 'committed') return
      const isOurs = event.changes.some((change) => change.bucket === bucket && change.key === key)
      // After the commit: a write from inside its own event would be one too deep.
      if (isOurs) this.#checkIn(this.#repeatDelayMs())
    })
    void components.initialSync.wait().then(() => this.#check())
  }

  stop(): void {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
  }

  /** Spreads repetitions in time: with ownership off one block takes the entries of many members at once. */
  #repeatDelayMs(): number {
    const { ledger, random } = this.#components
    return ledger.mode === 'off' ? random.float() * OFF_REPEAT_SPREAD_MS : 0
  }

  #check(): void {
    if (this.#stopped) return
    const { ledger, initialSync } = this.#components
    if (!initialSync.ready) {
      void initialSync.wait().then(() => this.#check())
      return
    }
    const { bucket, key, valueText } = this.#init
    const held = ledger.snapshot().getLive(bucket, key)
    const isHeld = held !== undefined && (held.owner === ledger.self || ledger.mode === 'off')
    const pausedMs = this.#notBefore - this.#components.clock.monotonic()
    if (!isHeld && pausedMs > 0) this.#checkIn(pausedMs)
    else if (!isHeld || !this.#written) this.#write(valueText())
    else this.#checkIn(ANNOUNCE_RETRY_MS)
  }

  #write(value: string): void {
    const { ledger } = this.#components
    const { bucket, key } = this.#init
    try {
      void ledger.put(bucket, key, value).settled
      this.#written = true
      this.#told = false
      this.#checkIn(ANNOUNCE_RETRY_MS)
    } catch (error) {
      if (!this.#told) this.#tell(error)
      this.#told = true
      this.#checkIn(this.#untilLeaseEnds(error))
    }
  }

  /** Another member may own the key without a fault: it is another provider of a service, for example. */
  #tell(error: unknown): void {
    const { bucket, key } = this.#init
    const isTaken = error instanceof MeshError && error.code === 'ledger.not_owner'
    this.#components.logger[isTaken ? 'info' : 'warn']('entry not announced', { bucket, key, error })
  }

  /** A lease is renewed with each heartbeat of its owner, so its end is only where to look again. */
  #untilLeaseEnds(error: unknown): number {
    const leaseEndsAt = error instanceof MeshError ? error.details.leaseEndsAt : undefined
    if (typeof leaseEndsAt !== 'number') return ANNOUNCE_RETRY_MS
    const untilEndMs = leaseEndsAt - this.#components.clock.now()
    return Math.max(ANNOUNCE_LEAST_RETRY_MS, Math.min(ANNOUNCE_RETRY_MS, untilEndMs))
  }

  #checkIn(delayMs: number): void {
    if (this.#stopped) return
    this.#cancel()
    const spread = 1 + this.#components.random.float() / 10
    this.#cancel = this.#components.clock.after(delayMs * spread, () => this.#check())
  }
}
