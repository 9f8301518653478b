/**
 * This node's own entries from the future: written while this machine's clock was ahead, and refused by everybody
 * else. Once the clock is right again they are written anew, with versions of now.
 */
import { BUCKETS, type Clock, heartbeatValue, type PeerId } from '@mesh/core'
import type { Entry } from '../entries/entry.ts'
import { CLOCK_STEP_MS, MAX_FUTURE_MS } from '../limits.ts'
import type { ClockCheck } from '../rules/clock-check.ts'
import type { LedgerState } from '../state/ledger-state.ts'
import { leavesFrom } from '../state/tree.ts'
import type { LocalWrite } from './local-write.ts'

export interface FutureEntriesInit {
  readonly self: PeerId
  readonly clock: Clock
  readonly clockCheck: ClockCheck
  readonly state: LedgerState
  readonly submit: (write: LocalWrite) => void
}

export class FutureEntries {
  readonly #init: FutureEntriesInit
  /** Those of an earlier run may be in the store. */
  #isDue = true
  #offsetMs: number

  constructor(init: FutureEntriesInit) {
    this.#init = init
    this.#offsetMs = this.#wallOffset()
  }

  /** May a write take the place of this entry although its version is lower? */
  isReplaceable(entry: Entry): boolean {
    const { self, clock, clockCheck } = this.#init
    const most = BigInt(Math.ceil(clock.now() + MAX_FUTURE_MS)) * 1_000_000n
    return entry.owner === self && entry.version > most && clockCheck.agrees
  }

  /** Must be called with each block: a clock that was ahead for one of them only is known to have stepped back. */
  noteTime(): void {
    const offsetMs = this.#wallOffset()
    if (offsetMs < this.#offsetMs - CLOCK_STEP_MS) this.#isDue = true
    this.#offsetMs = offsetMs
  }

  /**
   * Must be called now and then: looks at the whole ledger once after the start, and once after each step
   * back.
   */
  replace(): void {
    const { state, clock, clockCheck, submit } = this.#init
    this.noteTime()
    if (!this.#isDue || !clockCheck.agrees) return
    this.#isDue = false
    for (const rows of leavesFrom(state.tree, undefined)) {
      for (const { bucket, key, entry } of rows) {
        if (!this.isReplaceable(entry)) continue
        const value = bucket === BUCKETS.healthcheck ? heartbeatValue(clock.now()) : entry.value
        submit({ position: { bucket, key }, value: entry.deleted ? undefined : value })
      }
    }
  }

  #wallOffset(): number {
    const { clock } = this.#init
    return clock.now() - clock.monotonic()
  }
}
