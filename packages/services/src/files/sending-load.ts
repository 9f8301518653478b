/**
 * Shared by all receivers of this node's files: the memory of what is read ahead, and the lists of what is offered. A list
 * is made once for all receivers that asked meanwhile, and kept once where it is still the same.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { BLOCKS_PER_CALL, FEW_BLOCKS_PER_CALL, FEW_RECEIVERS, LONG_LIST_MS } from './limits.ts'
import { type Scan, scanShare } from './scan.ts'

interface SendingLoadInit {
  readonly clock: Clock
  /** The number of receivers now. */
  readonly receivers: () => number
}

export class SendingLoad {
  readonly #init: SendingLoadInit
  readonly #lists = new Map<string, ShareList>()

  constructor(init: SendingLoadInit) {
    this.#init = init
  }

  /** Undefined: this turn of the event loop has time left. Else resolves in a later one. */
  turn(): Promise<void> | undefined {
    return loopBudget(this.#init.clock).turn('members')
  }

  /** The number of blocks that are read with one system call: fewer where there are many receivers. */
  get blocksPerCall(): number {
    return this.#init.receivers() <= FEW_RECEIVERS ? BLOCKS_PER_CALL : FEW_BLOCKS_PER_CALL
  }

  /** Lists what is at a path, at some moment after this call. @throws MeshError `files.unreadable`, `files.too_many` */
  async list(path: string): Promise<Scan> {
    const list = this.#lists.get(path) ?? new ShareList(path, this.#init.clock)
    this.#lists.set(path, list)
    try {
      return await list.make()
    } finally {
      if (list.isIdle) this.#lists.delete(path)
    }
  }
}

/** The list of one path: one is made at a time, and after one that took long the next one waits for as long. */
class ShareList {
  readonly #path: string
  readonly #clock: Clock
  /** Resolves when the list that is being made is done, and as long a time after it has gone by. */
  #busy: Promise<void> | undefined
  /** The list that those who ask now will get. */
  #next: Promise<Scan> | undefined
  /** The last one, for as long as somebody has it. */
  #last: WeakRef<Scan> | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** True when it remembers nothing that anybody else has. */
  get isIdle(): boolean {
    return this.#busy === undefined && this.#next === undefined && this.#last?.deref() === undefined
  }

  make(): Promise<Scan> {
    return (this.#next ??= this.#makeNext())
  }

  async #makeNext(): Promise<Scan> {
    await this.#busy
    this.#next = undefined
    const made = scanShare(this.#path, new AbortController().signal)
    this.#busy = this.#restAfter(made)
    const scan = this.#keptOnce(await made)
    this.#last = new WeakRef(scan)
    return scan
  }

  /** Resolves, whatever becomes of the work, when as long a time as it took has gone by after it. */
  async #restAfter(work: Promise<unknown>): Promise<void> {
    const beganMs = this.#clock.monotonic()
    await Promise.allSettled([work])
    const tookMs = this.#clock.monotonic() - beganMs
    if (tookMs > LONG_LIST_MS) await new Promise<void>((resolve) => this.#clock.after(tookMs, resolve))
    this.#busy = undefined
  }

  /** The last list where nothing has changed, so that many receivers have one in memory. */
  #keptOnce(scan: Scan): Scan {
    const last = this.#last?.deref()
    return last !== undefined && isSame(last, scan) ? last : scan
  }
}

function isSame(a: Scan, b: Scan): boolean {
  if (a.root !== b.root || a.isFolder !== b.isFolder) return false
  if (a.leftOut.count !== b.leftOut.count || String(a.leftOut.names) !== String(b.leftOut.names)) return false
  if (a.entries.length !== b.entries.length) return false
  return a.entries.every((entry, at) => {
    const other = b.entries[at]
    return (
      entry.path === other?.path &&
      entry.size === other.size &&
      entry.modifiedMs === other.modifiedMs &&
      entry.isFolder === other.isFolder &&
      entry.isExecutable === other.isExecutable
    )
  })
}
