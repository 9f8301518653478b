/**
 * Writes that this node renews while it runs, and takes back at its end: the entries of members in pools, whose readers
 * count only what is fresh.
 */
import type { KeptWriteView } from '@mesh/api-contract'
import { type Clock, parseExactJson, positionId, stringifyExactJson } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { issue, Problem } from '../messages/problem.ts'
import { MAX_KEPT_WRITES } from '../limits.ts'

interface Position {
  readonly bucket: string
  readonly key: string
}

export interface KeepRequest extends Position {
  /** The value as JSON text. */
  readonly valueText: string
  readonly everyMs: number
  /** The field of the value that says when it was renewed, as RFC 3339 in UTC. */
  readonly timeField: string | undefined
}

interface Kept extends KeepRequest {
  cancel: () => void
}

type KeptLedger = Pick<Ledger, 'self' | 'mode' | 'put' | 'delete' | 'snapshot'>

export class KeptWrites {
  readonly #ledger: KeptLedger
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()

  constructor(ledger: KeptLedger, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  /** @throws Problem `ledger.too_many_kept` */
  checkRoom(position: Position): void {
    const isNew = !this.#kept.has(positionId(position))
    if (isNew && this.#kept.size >= MAX_KEPT_WRITES) throw new Problem('ledger.too_many_kept')
  }

  /** Renews the entry from now on. */
  keep(request: KeepRequest): void {
    this.forget(request)
    const kept: Kept = { ...request, cancel: () => {} }
    this.#kept.set(positionId(request), kept)
    this.#renewLater(kept)
  }

  /** Another write or a deletion of the key ends its renewal. */
  forget(position: Position): void {
    this.#kept.get(positionId(position))?.cancel()
    this.#kept.delete(positionId(position))
  }

  forgetBucket(bucket: string): void {
    for (const kept of this.#kept.values()) if (kept.bucket === bucket) this.forget(kept)
  }

  list(): KeptWriteView[] {
    return [...this.#kept.values()].map(({ bucket, key, everyMs, timeField }) => ({
      Bucket: bucket,
      Key: key,
      EverySeconds: everyMs / 1_000,
      TimeField: timeField ?? null,
    }))
  }

  /** Deletes what is still this node's, and resolves when the ledger has it. */
  async stop(): Promise<void> {
    const kept = [...this.#kept.values()]
    await Promise.all(
      kept.map(async (each) => {
        this.forget(each)
        const { bucket, key } = each
        const held = this.#ledger.snapshot().getLive(bucket, key)
        const isOwn = held?.owner === this.#ledger.self || this.#ledger.mode === 'off'
        if (held !== undefined && isOwn) await this.#ledger.delete(bucket, key).settled
      }),
    )
  }

  #renewLater(kept: Kept): void {
    kept.cancel = this.#clock.after(kept.everyMs, () => {
      try {
        void this.#ledger.put(kept.bucket, kept.key, timedValue(kept, this.#clock.now())).settled
      } catch {
        // another live member has the key now: it is tried again
      }
      this.#renewLater(kept)
    })
  }
}

/**
 * Gives a value with the time in its field, as JSON text.
 * @throws Problem `ledger.bad_value` where the value has no fields
 */
export function timedValue(
  { valueText, timeField }: Pick<KeepRequest, 'valueText' | 'timeField'>,
  nowMs: number,
): string {
  if (timeField === undefined) return valueText
  const value = parseExactJson(valueText)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Problem('ledger.bad_value', 'only a JSON object has fields', {
      issues: [issue('value', valueText.slice(0, 80), `an object like {"${timeField}":""}`)],
    })
  }
  return stringifyExactJson({ ...value, [timeField]: new Date(nowMs).toISOString() })
}
