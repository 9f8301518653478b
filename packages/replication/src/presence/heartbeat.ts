/**
 * Says that this node is alive: at once when it has arrived, then in time for four to fit into a lease. A node that ends
 * says so, too: it ends its heartbeat, so that others need not wait for the lease. Its other entries stay, for when it
 * comes back.
 */
import { BUCKETS, type Clock, heartbeatValue, type Logger, type Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { InitialSync } from './initial-sync.ts'
import { LEGACY_HEARTBEAT_INTERVAL_MS } from '../limits.ts'

export interface HeartbeatInit {
  readonly intervalMs: number
  readonly livenessMs: number
  /** Is a legacy member about, whose window may be 120 s? */
  readonly hasLegacy: () => boolean
}

export interface HeartbeatComponents {
  readonly ledger: Pick<Ledger, 'self' | 'put' | 'delete'>
  readonly initialSync: Pick<InitialSync, 'wait' | 'begin' | 'ready'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class Heartbeat {
  /** The time of the last beat, in unix ms. */
  lastAt: number | undefined
  readonly #init: HeartbeatInit
  readonly #components: HeartbeatComponents
  #lastMonotonicMs = 0
  #cancel: () => void = () => {}
  #stopped = false

  constructor(init: HeartbeatInit, components: HeartbeatComponents) {
    this.#init = init
    this.#components = components
  }

  start(): void {
    void this.#components.initialSync.wait().then(() => this.#beat())
  }

  /** A legacy member was heard: the next beat is due within its interval. */
  legacyHeard(): void {
    if (this.lastAt === undefined || this.#stopped) return
    this.#waitFor(Math.max(0, this.#intervalMs() - this.#silentMs()))
  }

  /** The clock was set: the last beat is dated wrong, and the next one is due. */
  clockSet(): void {
    if (this.lastAt === undefined || this.#stopped) return
    this.#cancel()
    this.#due()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  /** Stops, and ends the heartbeat in the ledger. Resolves when that is written; never rejects. */
  async leave(): Promise<void> {
    this.stop()
    const { ledger, initialSync, logger } = this.#components
    // before it has arrived it has said nothing, and a write would be held
    if (this.lastAt === undefined || !initialSync.ready) return
    try {
      await ledger.delete(BUCKETS.healthcheck, ledger.self).settled
    } catch (error) {
      logger.debug('heartbeat not ended', { error })
    }
  }

  #beat(): void {
    if (this.#stopped) return
    const { ledger, clock, random, logger } = this.#components
    this.lastAt = clock.now()
    this.#lastMonotonicMs = clock.monotonic()
    try {
      ledger.put(BUCKETS.healthcheck, ledger.self, heartbeatValue(this.lastAt))
    } catch (error) {
      logger.warn('heartbeat refused', { error })
    }
    this.#waitFor(this.#intervalMs() * (0.9 + random.float() / 10))
  }

  #waitFor(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#components.clock.after(delayMs, () => this.#due())
  }

  /** After a sleep that outlasted the lease others may have taken what was ours: that is learned first. */
  #due(): void {
    if (this.#silentMs() <= this.#init.livenessMs) return this.#beat()
    this.#components.initialSync.begin()
    this.start()
  }

  /**
   * Gives the time since the last beat, in ms. Both clocks are looked at: monotonic time may stand still while the machine sleeps, and the
   * time of day may have been set back.
   */
  #silentMs(): number {
    const { clock } = this.#components
    if (this.lastAt === undefined) return 0
    return Math.max(clock.monotonic() - this.#lastMonotonicMs, clock.now() - this.lastAt)
  }

  #intervalMs(): number {
    const { intervalMs, hasLegacy } = this.#init
    return hasLegacy() ? Math.min(intervalMs, LEGACY_HEARTBEAT_INTERVAL_MS) : intervalMs
  }
}
