/**
 * Entries from the future: taken or written while this machine's clock was ahead, and refused by everybody whose clock is
 * right. Once this one is right again its own are written anew, with versions of now, and others give way to what is.
 */
import { BUCKETS, type Clock, heartbeatValue, type PeerId } from '@mesh/core'
import type { Entry } from '../entries/entry.ts'
import { isVersionAhead } from '../entries/version.ts'
import { CLOCK_STEP_MS } from '../limits.ts'
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
  /** Called when this machine's clock was known to be wrong, and is near those of others again. */
  readonly onRight: () => void
}

export class FutureEntries {
  readonly #init: FutureEntriesInit
  /** Those of an earlier run may be in the store. */
  #isDue = true
  #wasWrong = false
  #offsetMs: number

  constructor(init: FutureEntriesInit) {
    this.#init = init
    this.#offsetMs = this.#wallOffset()
  }

  /** May an entry take the place of this one although its version is lower? */
  isReplaceable(entry: Entry): boolean {
    const { clock, clockCheck } = this.#init
    return isVersionAhead(entry.version, clock.now()) && clockCheck.agrees
  }

  /** Must be called with each block: a clock that was ahead for one of them only is known to have stepped back. */
  noteTime(): void {
    const offsetMs = this.#wallOffset()
    const stepMs = offsetMs - this.#offsetMs
    if (stepMs < -CLOCK_STEP_MS) this.#isDue = true
    // it was wrong before, or is now
    if (Math.abs(stepMs) > CLOCK_STEP_MS) this.#wasWrong = true
    this.#offsetMs = offsetMs
  }

  /**
   * Must be called now and then: looks at the whole ledger once after the start, and once after each step
   * back.
   */
  replace(): void {
    const { self, state, clock, clockCheck, submit } = this.#init
    this.noteTime()
    this.#noteAgreement()
    if (!this.#isDue || !clockCheck.agrees) return
    this.#isDue = false
    for (const rows of leavesFrom(state.tree, undefined)) {
      for (const { bucket, key, entry } of rows) {
        if (entry.owner !== self || !this.isReplaceable(entry)) continue
        const value = bucket === BUCKETS.healthcheck ? heartbeatValue(clock.now()) : entry.value
        submit({ position: { bucket, key }, value: entry.deleted ? undefined : value })
      }
    }
  }

  #noteAgreement(): void {
    const { clockCheck, onRight } = this.#init
    if (!clockCheck.agrees) this.#wasWrong ||= clockCheck.offset() !== undefined
    else if (this.#wasWrong) {
      this.#wasWrong = false
      onRight()
    }
  }

  #wallOffset(): number {
    const { clock } = this.#init
    return clock.now() - clock.monotonic()
  }
}
