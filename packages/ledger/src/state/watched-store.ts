/**
 * A store that remembers when it began to fail, and logs a failure at most once a minute: with a full disk every block fails.
 * Every two seconds it tries to write as much as it refused, because a full disk often has room for less. A damaged
 * store recovers only after all of it was read.
 */
import type { Clock, Logger } from '@mesh/core'
import { MIN_STORE_ROOM_BYTES, STORE_FAILURE_LOG_INTERVAL_MS, STORE_RETRY_MS } from '../limits.ts'
import { isDamage, type Store, type StoreBatch, type StoredLedger } from './store.ts'

/** Why nothing was stored since some moment. */
export interface StoreFailure {
  /** Unix time of the first batch that was not stored, in ms. */
  readonly since: number
  /** The last trouble of the store, in words for people. */
  readonly message: string
  /** True where what the store holds is damaged, until all of it was read and is sound. */
  readonly isDamaged: boolean
  /** How many batches were not stored since then. */
  readonly count: number
}

interface WatchedStoreComponents {
  readonly clock: Clock
  readonly log: Logger
  /** Called when the store takes something after it failed. */
  readonly onStoredAgain: () => void
}

/** The given store; its life is this one's. */
export class WatchedStore implements Store {
  readonly #store: Store
  readonly #components: WatchedStoreComponents
  /** Head and fingerprint of the last batch that it took; undefined in a fresh store. */
  #stored: Pick<StoreBatch, 'head' | 'fingerprint'> | undefined
  #failure: StoreFailure | undefined
  /** The room in bytes that there has to be before the store counts as well again. */
  #neededBytes = 0
  #isTold = false
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #cancelRetry = () => {}

  constructor(store: Store, components: WatchedStoreComponents) {
    this.#store = store
    this.#components = components
  }

  get location(): string | undefined {
    return this.#store.location
  }

  /** Undefined when the last batch was stored, and there is room for one as large as any that was not. */
  get failure(): StoreFailure | undefined {
    return this.#failure
  }

  load(): StoredLedger | undefined {
    const loaded = this.#store.load()
    if (loaded !== undefined) this.#stored = { head: loaded.head, fingerprint: loaded.fingerprint }
    return loaded
  }

  commit(batch: StoreBatch): void {
    try {
      this.#store.commit(batch)
    } catch (error) {
      this.#neededBytes = Math.max(this.#neededBytes, 2 * sizeOf(batch), MIN_STORE_ROOM_BYTES)
      this.#noteFailure(error)
      throw error
    }
    this.#stored = { head: batch.head, fingerprint: batch.fingerprint }
    // one that can tell is asked by the next try, and not with every batch that passes meanwhile
    if (this.#failure?.isDamaged === false && this.#store.hasRoomFor === undefined)
      this.#noteStored(this.#failure)
  }

  close(): void {
    this.#cancelRetry()
    this.#store.close()
  }

  #noteStored({ count }: StoreFailure): void {
    this.#cancelRetry()
    this.#failure = undefined
    this.#neededBytes = 0
    // a disk with little space may take one block and not the next: each is told as often as the other
    if (this.#isTold) this.#components.log.info('blocks are stored again', { missed: count })
    this.#isTold = false
    this.#components.onStoredAgain()
  }

  #noteFailure(error: unknown): void {
    const { clock, log } = this.#components
    const message = error instanceof Error ? error.message : String(error)
    const before = this.#failure ?? { since: clock.now(), count: 0, isDamaged: false }
    const isDamaged = before.isDamaged || isDamage(error)
    if (this.#failure === undefined) this.#retryLater()
    this.#failure = { since: before.since, message, isDamaged, count: before.count + 1 }
    const nowMs = clock.monotonic()
    if (nowMs - this.#loggedAtMs < STORE_FAILURE_LOG_INTERVAL_MS) return
    this.#loggedAtMs = nowMs
    this.#isTold = true
    log.error('blocks are not stored', { error, count: this.#failure.count })
  }

  #retryLater(): void {
    this.#cancelRetry = this.#components.clock.after(STORE_RETRY_MS, () => this.#retry())
  }

  /** Writes once more what stands there already. */
  #retry(): void {
    if (this.#failure === undefined) return
    const isDamaged = this.#failure.isDamaged && this.#store.isDamaged?.() !== false
    if (isDamaged || this.#stored === undefined) return this.#retryLater()
    const { head, fingerprint } = this.#stored
    try {
      this.#store.commit({ head, fingerprint, puts: [], removes: [], pruned: [], forgotten: [] })
      if (this.#store.hasRoomFor?.(this.#neededBytes) === false) return this.#retryLater()
    } catch {
      return this.#retryLater()
    }
    this.#noteStored(this.#failure)
  }
}

/** About how many bytes a batch takes in a store. */
function sizeOf({ puts }: StoreBatch): number {
  return puts.reduce(
    (sum, { bucket, key, entry }) => sum + bucket.length + key.length + entry.value.length,
    0,
  )
}
