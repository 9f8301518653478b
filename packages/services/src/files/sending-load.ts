/**
 * Shared by all receivers of this node's files: the memory of what is read ahead, and the lists of what is offered. A list
 * is made once for all receivers that asked meanwhile, and kept once where it is still the same.
 */
import { BoundedMap, type Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { BLOCKS_PER_CALL, FEW_BLOCKS_PER_CALL, FEW_RECEIVERS, MAX_OFFERED_FILES } from './limits.ts'
import { type Scan, scanShare } from './scan.ts'

interface SendingLoadInit {
  readonly clock: Clock
  /** The number of receivers now. */
  readonly receivers: () => number
}

/** The lists of one path, of which one is made at a time. */
interface ShareLists {
  running?: Promise<unknown>
  /** The list that those who ask now will get. */
  next?: Promise<Scan> | undefined
  /** The last one, for as long as somebody has it. */
  last?: WeakRef<Scan>
}

export class SendingLoad {
  readonly #init: SendingLoadInit
  readonly #lists = new BoundedMap<string, ShareLists>(MAX_OFFERED_FILES)

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
  list(path: string): Promise<Scan> {
    const lists = this.#lists.get(path) ?? {}
    this.#lists.set(path, lists)
    return (lists.next ??= makeList(path, lists))
  }
}

async function makeList(path: string, lists: ShareLists): Promise<Scan> {
  await lists.running
  lists.next = undefined
  const made = scanShare(path, new AbortController().signal)
  lists.running = made.catch(() => {})
  const [scan, last] = [await made, lists.last?.deref()]
  // many receivers have one in memory
  if (last !== undefined && isSame(last, scan)) return last
  lists.last = new WeakRef(scan)
  return scan
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
