/**
 * Answers claims on entries of this node with the entries as they stand. The claimant then gives way or reports the conflict.
 * The first claim of a key gets an answer at once, later ones together after a pause.
 */
import { BUCKETS, type Clock, type PeerId, positionId } from '@mesh/core'
import { createRate, type RateLimit } from '@mesh/core/limits'
import type { LedgerEvents } from '../ledger-events.ts'
import { ANNOUNCE_PAUSE_MS, ANNOUNCES, MAX_CONFLICTS } from '../limits.ts'
import type { LedgerState } from '../state/ledger-state.ts'
import type { Position } from '../snapshot.ts'
import { treeGet } from '../state/tree.ts'

interface ClaimAnswersInit {
  readonly self: PeerId
  readonly clock: Clock
  readonly state: LedgerState
  readonly events: LedgerEvents
  readonly signal: AbortSignal
}

export class ClaimAnswers {
  readonly #init: ClaimAnswersInit
  readonly #rate: RateLimit
  /** Those that were claimed again since they were answered. */
  readonly #owed = new Map<string, Position>()
  #cancel: (() => void) | undefined

  constructor(init: ClaimAnswersInit) {
    this.#init = init
    this.#rate = createRate(ANNOUNCES, init.clock)
    init.signal.addEventListener('abort', () => this.#cancel?.())
  }

  answer(position: Position): void {
    if (this.#rate.take({ peer: positionId(position) })) this.#publish([position])
    else this.#owe(position)
  }

  #owe({ bucket, key }: Position): void {
    if (this.#owed.size >= MAX_CONFLICTS) return
    this.#owed.set(positionId({ bucket, key }), { bucket, key })
    this.#cancel ??= this.#init.clock.after(ANNOUNCE_PAUSE_MS, () => this.#answerOwed())
  }

  #answerOwed(): void {
    this.#cancel = undefined
    const owed = [...this.#owed.values()]
    this.#owed.clear()
    const due: Position[] = []
    for (const position of owed) {
      if (this.#rate.take({ peer: positionId(position) })) due.push(position)
      else this.#owe(position)
    }
    this.#publish(due)
  }

  /** A member that has not heard that this node lives takes its entries for those of one that is gone. */
  #publish(positions: readonly Position[]): void {
    const { self, state, events } = this.#init
    const held = positions.flatMap((position) => {
      const keyed = treeGet(state.tree, position)
      return keyed?.entry.owner === self && !keyed.entry.deleted ? [keyed] : []
    })
    const heartbeat = treeGet(state.tree, { bucket: BUCKETS.healthcheck, key: self })
    if (held.length > 0) events.emit({ type: 'contested', entries: heartbeat ? [heartbeat, ...held] : held })
  }
}
