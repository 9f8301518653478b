/**
 * Takes back what peers wrote who are out: step by step, as they may have written all that a ledger holds. One walk at a
 * time; what is due meanwhile has the next one.
 */
import type { Clock, PeerId } from '@mesh/core'
import type { KeyedEntry, Position } from '@mesh/ledger'
import { WITHDRAWAL_REST_MS } from '../limits.ts'
import type { TrustLedger } from '../ports.ts'

interface WithdrawalWalkComponents {
  readonly ledger: Pick<TrustLedger, 'withdraw'>
  /** True for what stays of a peer that was shut out. */
  readonly keeps: (keyed: KeyedEntry) => boolean
  /** Called after a walk that took something out. */
  readonly onWithdrawn: (entries: number) => void
  readonly clock: Clock
}

export class WithdrawalWalk {
  readonly #components: WithdrawalWalkComponents
  /** Whose entries the next walk takes out. */
  #due: ReadonlySet<PeerId> = new Set()
  #isWalking = false
  #cancel = () => {}

  constructor(components: WithdrawalWalkComponents) {
    this.#components = components
  }

  /** Takes out what these peers wrote, now or after the walk that is under way. */
  begin(owners: ReadonlySet<PeerId>): void {
    this.#due = this.#due.union(owners)
    if (!this.#isWalking && this.#due.size > 0) this.#walk()
  }

  stop(): void {
    this.#cancel()
    this.#due = new Set()
  }

  #walk(): void {
    const { ledger, keeps, clock, onWithdrawn } = this.#components
    const owners = this.#due
    this.#due = new Set()
    this.#isWalking = true
    let total = 0
    const step = (from?: Position): void => {
      const { count, next } = ledger.withdraw(owners, keeps, from)
      total += count
      if (next !== undefined) {
        this.#cancel = clock.after(WITHDRAWAL_REST_MS, () => step(next))
        return
      }
      this.#isWalking = false
      if (total > 0) onWithdrawn(total)
      this.begin(new Set())
    }
    step()
  }
}
