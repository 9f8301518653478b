/**
 * A store that remembers since when it fails, so that the node can say so, and that logs a failure at most once a
 * minute: with a full disk every block fails, and the log may lie on the same disk.
 */
import type { Clock, Logger } from '@mesh/core'
import { STORE_FAILURE_LOG_INTERVAL_MS } from '../limits.ts'
import type { Store, StoreBatch, StoredLedger } from './store.ts'

/** Why nothing was stored since some moment. */
export interface StoreFailure {
  /** Unix time of the first batch that was not stored, in ms. */
  readonly since: number
  /** The last trouble of the store, in words for people. */
  readonly message: string
  /** How many batches were not stored since then. */
  readonly count: number
}

/** The given store; its life is this one's. */
export class WatchedStore implements Store {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  #failure: StoreFailure | undefined
  #loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(store: Store, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  get location(): string | undefined {
    return this.#store.location
  }

  /** Undefined when the last batch was stored. */
  get failure(): StoreFailure | undefined {
    return this.#failure
  }

  load(): StoredLedger | undefined {
    return this.#store.load()
  }

  commit(batch: StoreBatch): void {
    try {
      this.#store.commit(batch)
    } catch (error) {
      this.#noteFailure(error)
      throw error
    }
    if (this.#failure === undefined) return
    this.#log.info('blocks are stored again', { missed: this.#failure.count })
    this.#failure = undefined
    this.#loggedAtMs = Number.NEGATIVE_INFINITY
  }

  close(): void {
    this.#store.close()
  }

  #noteFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const { since, count } = this.#failure ?? { since: this.#clock.now(), count: 0 }
    this.#failure = { since, message, count: count + 1 }
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#loggedAtMs < STORE_FAILURE_LOG_INTERVAL_MS) return
    this.#loggedAtMs = nowMs
    this.#log.error('blocks are not stored', { error, count: count + 1 })
  }
}
