/** The ledger as a program sees it: values in place of JSON text, and errors that say what to do. */
import { MeshError, stringifyExactJson, systemClock, untilAborted } from '@mesh/core'
import type { Ledger } from '../ledger.ts'
import { type MeshChange, type MeshEntry, valueOf } from './entry-values.ts'
import { watchBucket } from './watch-bucket.ts'

export interface Waiting {
  /** Ends the wait with its reason; what was begun goes on. */
  readonly signal?: AbortSignal | undefined
}

export interface WatchInit extends Waiting {
  /** Begins with the entries that the bucket holds now. Default false. */
  readonly existing?: boolean | undefined
}

/**
 * The data of the network, which every member holds. Buckets of your own are open: every member may write every key, and
 * the newest write wins everywhere. Keys of the network's own buckets (`services`, `dns`, ...) belong to one live member.
 */
export interface MeshLedger {
  /**
   * Resolves when this node holds the write. Members that are connected have it within a second, others when they
   * connect.
   * @param value anything that JSON can carry, with `bigint` for large whole numbers
   * @throws MeshError `ledger.bad_value`, `ledger.too_large`, and `ledger.not_owner` for another live member's key of
   *   an owned bucket
   */
  put(bucket: string, key: string, value: unknown, waiting?: Waiting): Promise<void>
  /** Gives the value of a key as this node knows it now; undefined: there is none. */
  get(bucket: string, key: string): unknown
  /**
   * Resolves when this node has deleted the key; also when there is none.
   * @throws MeshError `ledger.not_owner` as `put`
   */
  delete(bucket: string, key: string, waiting?: Waiting): Promise<void>
  /** Gives the entries of a bucket as this node knows them now, by key. */
  list(bucket: string): readonly MeshEntry[]
}

interface LedgerValuesInit {
  /** Aborts when the node closes, with what calls throw from then on. */
  readonly closed: AbortSignal
  /** Adds to an error what its reader can do; without it errors are thrown as they are. */
  readonly explain?: (error: unknown) => Promise<unknown>
}

export class LedgerValues implements MeshLedger {
  readonly #ledger: Ledger
  readonly #closed: AbortSignal
  readonly #explain: (error: unknown) => Promise<unknown>

  constructor(ledger: Ledger, { closed, explain = async (error) => error }: LedgerValuesInit) {
    this.#ledger = ledger
    this.#closed = closed
    this.#explain = explain
  }

  async put(bucket: string, key: string, value: unknown, waiting?: Waiting): Promise<void> {
    const text = stringifyExactJson(value) as string | undefined
    if (text === undefined) throw notJson(value)
    await this.#write(() => this.#ledger.put(bucket, key, text).settled, waiting)
  }

  get(bucket: string, key: string): unknown {
    this.#closed.throwIfAborted()
    const entry = this.#ledger.snapshot().getLive(bucket, key)
    return entry === undefined ? undefined : valueOf(entry)
  }

  async delete(bucket: string, key: string, waiting?: Waiting): Promise<void> {
    await this.#write(() => this.#ledger.delete(bucket, key).settled, waiting)
  }

  list(bucket: string): readonly MeshEntry[] {
    this.#closed.throwIfAborted()
    const snapshot = this.#ledger.snapshot()
    const now = systemClock.now()
    return [...snapshot.entries(bucket)].flatMap(({ key, entry }) => {
      if (entry.deleted) return []
      const { owner, updatedAt } = entry
      const isOwnerAlive = owner === this.#ledger.self || snapshot.isOwnerLive(owner, now)
      return [{ key, value: valueOf(entry), owner, isOwnerAlive, updatedAt: updatedAt * 1_000 }]
    })
  }

  watch(bucket: string, { signal, existing = false }: WatchInit = {}): AsyncIterableIterator<MeshChange> {
    this.#closed.throwIfAborted()
    return watchBucket({ bucket, ledger: this.#ledger, isFromNow: !existing, closed: this.#closed, signal })
  }

  async #write(write: () => ReturnType<Ledger['put']>['settled'], { signal }: Waiting = {}): Promise<void> {
    this.#closed.throwIfAborted()
    signal?.throwIfAborted()
    try {
      const ended = signal === undefined ? this.#closed : AbortSignal.any([signal, this.#closed])
      const outcome = await untilAborted(write(), ended)
      if (outcome.state === 'refused') throw outcome.error
    } catch (error) {
      throw await this.#explain(error)
    }
  }
}

function notJson(value: unknown): MeshError {
  return new MeshError('ledger.bad_value', `a value must be JSON, this is a ${typeof value}`, {
    hint: 'Write null, or call `delete` to remove the key.',
  })
}
