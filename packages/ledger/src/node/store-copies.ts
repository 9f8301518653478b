/**
 * Keeps one copy of a ledger's file, so that damage costs hours at most.
 *
 * 1. Copies the file while it is in use.
 * 2. Reads the copy and compares it with its fingerprint.
 * 3. Replaces the earlier copy in one step.
 *
 * So damage is noticed while the ledger is still in memory, and never reaches the copy. The next copy is then made from memory.
 */
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Logger } from '@mesh/core'
import {
  COPY_INTERVAL_MS,
  COPY_RETRY_MS,
  FIRST_COPY_MS,
  LAST_COPY_MS,
  MAX_LAST_COPY_BYTES,
} from '../limits.ts'
import { copyPathOf, LOG_SUFFIXES } from './copy-path.ts'
import { isDamage, type StoredLedger } from '../state/store.ts'
import type { DiskStore } from './disk-store.ts'
import { verifyCopy } from './verify-copy.ts'
import { writeCopy } from './write-copy.ts'

/** Something is wrong with the file of a ledger that runs, or with copying it. */
export interface CopyProblem {
  /** The file is damaged; else it could not be copied. */
  readonly isDamaged: boolean
  /** A copy was made of what the ledger holds in memory, in place of what is in its file. */
  readonly isCopied: boolean
  /** The reason, in words for people. */
  readonly message: string
  /** Unix time at which it was found, in ms. */
  readonly since: number
}

export interface StoreCopiesInit {
  readonly store: DiskStore
  /** All that the file should hold now. */
  readonly contents: () => StoredLedger
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
    init.store.onDamaged(() => this.#copyNow())
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
    const { store, contents } = this.#init
    if (contents().head.hash === this.#copied) return
    const isDamaged = this.#problem?.isDamaged === true
    const time = new AbortController()
    const cancel = this.#clock.after(LAST_COPY_MS, () => time.abort(new Error('it took too long')))
    try {
      if ((await stat(store.location)).size > MAX_LAST_COPY_BYTES) return
      if (isDamaged) await this.#copyMemory(time.signal)
      else if (!(await this.#isFresh())) await this.#copyFile(time.signal)
    } catch (error) {
      this.#log.debug('the ledger was not copied at the end', { error })
    } finally {
      cancel()
    }
  }

  /** True when the copy that there is, perhaps of an earlier run, is not older than copies become while a node runs. */
  async #isFresh(): Promise<boolean> {
    const copy = await stat(copyPathOf(this.#init.store.location)).catch(() => undefined)
    // one from the future was made while the clock was ahead: nobody knows how old it is
    return copy !== undefined && Math.abs(this.#clock.now() - copy.mtimeMs) < COPY_INTERVAL_MS
  }

  #plan(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#running = this.#copy().finally(() => {
        this.#running = undefined
        if (this.#stopping.signal.aborted) return
        this.#plan(this.#problem === undefined ? COPY_INTERVAL_MS : COPY_RETRY_MS)
      })
    })
  }

  /** A batch found the file damaged. Every further one will: the first is enough. */
  #copyNow(): void {
    if (this.#problem?.isDamaged === true || this.#running !== undefined) return
    if (!this.#stopping.signal.aborted) this.#plan(0)
  }

  /** Copies also where nothing was written since: the file may have been damaged. */
  async #copy(): Promise<void> {
    const { signal } = this.#stopping
    try {
      await this.#copyFile(signal)
      // a disk that could not be read for a while may be read again
      this.#init.store.noteSound()
      this.#problem = undefined
    } catch (error) {
      if (signal.aborted) return
      this.#note(error)
      if (isDamage(error)) await this.#copyMemory(signal).catch((cause: unknown) => this.#noteNoCopy(cause))
    }
  }

  async #copyFile(signal: AbortSignal): Promise<void> {
    const { store, contents } = this.#init
    const { hash } = contents().head
    await this.#replaceCopy((path) => store.copyTo(path), signal)
    this.#copied = hash
  }

  async #copyMemory(signal: AbortSignal): Promise<void> {
    const contents = this.#init.contents()
    if (!(await this.#holds(contents, signal)))
      await this.#replaceCopy((path) => writeCopy(path, contents, { clock: this.#clock, signal }), signal)
    this.#copied = contents.head.hash
    if (this.#problem !== undefined) this.#problem = { ...this.#problem, isCopied: true }
  }

  /** The copy was made of these contents, and is sound still: what damaged the file may have damaged it. */
  async #holds({ head }: StoredLedger, signal: AbortSignal): Promise<boolean> {
    if (head.hash !== this.#copied) return false
    const copy = copyPathOf(this.#init.store.location)
    return await verifyCopy(copy, copy, { clock: this.#clock, signal }).then(
      () => true,
      () => false,
    )
  }

  async #replaceCopy(write: (path: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { location } = this.#init.store
    const copy = copyPathOf(location)
    const made = `${copy}.new`
    for (const suffix of ['', ...LOG_SUFFIXES]) await rm(made + suffix, { force: true })
    try {
      await checkSpace(location)
      // SQLite would make it readable for all
      await (await open(made, 'wx', 0o600)).close()
      await write(made)
      signal.throwIfAborted()
      await verifyCopy(made, location, { clock: this.#clock, signal })
      await syncFile(made)
      await rename(made, copy)
    } finally {
      for (const suffix of ['', ...LOG_SUFFIXES]) await rm(made + suffix, { force: true })
    }
  }

  #noteNoCopy(error: unknown): void {
    if (!this.#stopping.signal.aborted) this.#log.warn('what is in memory was not copied', { error })
  }

  /** Said once, until a copy succeeds. */
  #note(error: unknown): void {
    const isDamaged = isDamage(error)
    const message = error instanceof Error ? error.message : String(error)
    const before = this.#problem
    const since = before?.since ?? this.#clock.now()
    this.#problem = { isDamaged, isCopied: false, message, since }
    if (before?.isDamaged === isDamaged) return
    if (isDamaged) this.#log.error('the file of the ledger is damaged', { error })
    else this.#log.warn('the ledger was not copied', { error })
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
