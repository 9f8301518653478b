/**
 * Keeps one copy of a ledger's file beside it, so that damage costs hours and not everything: 1 the file is copied while
 * it is used, 2 all of the copy is read and held against its fingerprint, 3 it takes the place of the copy before, in one
 * step. So damage to the file is noticed while its ledger still stands in memory, and never reaches the copy.
 */
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, type Logger, MeshError } from '@mesh/core'
import { COPY_INTERVAL_MS, FIRST_COPY_MS, LAST_COPY_MS, MAX_LAST_COPY_BYTES } from '../limits.ts'
import { copyPathOf, LOG_SUFFIXES } from './copy-path.ts'
import type { DiskStore } from './disk-store.ts'
import { verifyCopy } from './verify-copy.ts'

/** Something is wrong with the file of a ledger that runs, or with copying it. */
export interface CopyProblem {
  /** The file is damaged; else it could not be copied. */
  readonly isDamaged: boolean
  /** The reason, in words for people. */
  readonly message: string
  /** Unix time at which it was found, in ms. */
  readonly since: number
}

export interface StoreCopiesInit {
  readonly store: DiskStore
  /** Another text after every change: without a change there is nothing to copy. */
  readonly version: () => string
}

/** Copies the file soon after the start, then from time to time, and at the end where the last copy is old. */
export class StoreCopies {
  readonly #init: StoreCopiesInit
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stopping = new AbortController()
  #cancel = () => {}
  #running: Promise<void> | undefined
  #copied: string | undefined
  #problem: CopyProblem | undefined

  constructor(init: StoreCopiesInit, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#init = init
    this.#clock = clock
    this.#log = log.child('ledger')
    this.#plan(FIRST_COPY_MS)
  }

  /** Undefined when the last copy was made, and nothing is wrong with it. */
  get problem(): CopyProblem | undefined {
    return this.#problem
  }

  /**
   * Resolves when nothing of it runs any more. A small file without a fresh copy is copied as it was left: call it when the
   * store is closed.
   */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return await this.#running
    this.#cancel()
    this.#stopping.abort()
    await this.#running
    this.#running = this.#copyLast()
    await this.#running
  }

  /** Copies a small ledger as it ends. One that cannot be copied now has the copy before it, and the other members. */
  async #copyLast(): Promise<void> {
    const { store, version } = this.#init
    if (version() === this.#copied || this.#problem?.isDamaged === true) return
    const time = new AbortController()
    const cancel = this.#clock.after(LAST_COPY_MS, () => time.abort(new Error('it took too long')))
    try {
      if ((await stat(store.location)).size > MAX_LAST_COPY_BYTES || (await this.#isFresh())) return
      await makeCopy(store, this.#clock, time.signal)
    } catch (error) {
      this.#log.debug('the ledger was not copied at the end', { error })
    } finally {
      cancel()
    }
  }

  /** True when the copy that there is, perhaps of an earlier run, is not older than copies become while a node runs. */
  async #isFresh(): Promise<boolean> {
    const copy = await stat(copyPathOf(this.#init.store.location)).catch(() => undefined)
    return copy !== undefined && this.#clock.now() - copy.mtimeMs < COPY_INTERVAL_MS
  }

  #plan(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#running = this.#copy().finally(() => {
        if (!this.#stopping.signal.aborted) this.#plan(COPY_INTERVAL_MS)
      })
    })
  }

  async #copy(): Promise<void> {
    const { store, version } = this.#init
    const now = version()
    if (now === this.#copied) return
    try {
      await makeCopy(store, this.#clock, this.#stopping.signal)
      this.#copied = now
      this.#problem = undefined
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#note(error)
    }
  }

  /** Said once, until a copy succeeds. */
  #note(error: unknown): void {
    const isDamaged = error instanceof MeshError && error.code === 'ledger.store_damaged'
    const message = error instanceof Error ? error.message : String(error)
    const before = this.#problem
    this.#problem = { isDamaged, message, since: before?.since ?? this.#clock.now() }
    if (before?.isDamaged === isDamaged) return
    if (isDamaged) this.#log.error('the file of the ledger is damaged', { error })
    else this.#log.warn('the ledger was not copied', { error })
  }
}

async function makeCopy(store: DiskStore, clock: Clock, signal: AbortSignal): Promise<void> {
  const copy = copyPathOf(store.location)
  const made = `${copy}.new`
  for (const suffix of ['', ...LOG_SUFFIXES]) await rm(made + suffix, { force: true })
  try {
    await checkSpace(store.location)
    // SQLite would make it readable for all
    await (await open(made, 'wx', 0o600)).close()
    await store.copyTo(made)
    signal.throwIfAborted()
    await verifyCopy(made, clock, signal)
    await syncFile(made)
    await rename(made, copy)
  } finally {
    for (const suffix of ['', ...LOG_SUFFIXES]) await rm(made + suffix, { force: true })
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A copy must not take the last space from the ledger itself. */
async function checkSpace(path: string): Promise<void> {
  const { size } = await stat(path)
  const { bavail, bsize } = await statfs(dirname(path))
  if (bavail * bsize < 2 * size) throw new Error(`there is no space for a copy of ${path}`)
}
