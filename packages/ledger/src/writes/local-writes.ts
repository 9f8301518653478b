/**
 * Takes what callers write: it is refused at once where form or rules forbid it, else queued for the next
 * block.
 */
import type { MeshError } from '@mesh/core'
import type { BucketDelete, LedgerErrorCode, Write } from '../ledger.ts'
import { type BucketPolicy, holderOf } from '../rules/policy.ts'
import type { LedgerState } from '../state/ledger-state.ts'
import type { Position } from '../snapshot.ts'
import { combinedOutcome } from './combined-outcome.ts'
import type { LocalWrite, LocalWriter } from './local-write.ts'
import type { WriteQueue } from './write-queue.ts'

export interface LocalWritesInit {
  readonly state: LedgerState
  readonly writer: LocalWriter
  readonly queue: WriteQueue
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly now: () => number
}

export class LocalWrites {
  readonly #init: LocalWritesInit

  constructor(init: LocalWritesInit) {
    this.#init = init
  }

  /** @throws MeshError what form or rules say against it */
  write(write: LocalWrite): Write {
    const { writer, queue, state } = this.#init
    const { bucket, key } = write.position
    writer.checkForm(write)
    if (!writer.changesNothing(write, state.snapshot().get(bucket, key))) {
      const refusal = this.#refusalOf(write)
      if (refusal !== undefined) throw refusal
    } else if (!queue.holds(bucket)) {
      queue.cancel(write.position, { state: 'superseded' })
      return { settled: Promise.resolve({ state: 'committed', block: state.head.index }) }
    }
    return { settled: queue.submit(write) }
  }

  /** @throws MeshError why nothing of the bucket may be deleted */
  deleteBucket(bucket: string, keeps: (key: string) => boolean): BucketDelete {
    const { queue, state, policyOf } = this.#init
    const policy = policyOf(bucket)
    const refused: { key: string; owner: string }[] = []
    const deletable: Position[] = []
    let firstRefusal: MeshError<LedgerErrorCode> | undefined
    for (const { key, entry } of state.snapshot().entries(bucket)) {
      if (entry.deleted) continue
      const position = { bucket, key }
      const refusal = policy === undefined ? undefined : this.#refusalOf({ position, value: undefined })
      firstRefusal ??= refusal
      if (refusal === undefined && !keeps(key)) deletable.push(position)
      else refused.push({ key, owner: holderOf(policy, key, entry) })
    }
    const waiting = queue.puts(bucket).filter(({ position }) => !keeps(position.key))
    if (firstRefusal !== undefined && deletable.length + waiting.length === 0) throw firstRefusal
    for (const { position } of waiting) queue.cancel(position, { state: 'superseded' })
    const outcomes = deletable.map((position) => queue.submit({ position, value: undefined }))
    const settled = combinedOutcome(outcomes, () => state.head.index)
    return { refused, deleting: deletable.length, settled }
  }

  #refusalOf(write: LocalWrite): MeshError<LedgerErrorCode> | undefined {
    const { state, writer, now } = this.#init
    const existing = state.snapshot().get(write.position.bucket, write.position.key)
    const prunedVersion = state.pruned.versionOf(write.position)
    return writer.refusal(write, { existing, prunedVersion, tree: state.tree, nowMs: now() })
  }
}
