/**
 * Decodes and judges the blocks of others in slices, in the time of the loop budget; authors take turns. An author's
 * blocks are taken in order. Bounds keep the waiting blocks few.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { decodeBlock } from './decode-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { MergeResult, RejectionCode } from '../ledger.ts'
import { MAX_WAITING_BLOCK_BYTES, MAX_WAITING_BLOCKS } from '../limits.ts'

/** Takes entries until it has drawn all; called once for each slice. */
type TakeSlice = (entries: Iterable<KeyedEntry>) => MergeResult

export interface BlockIntakeInit {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called when a block's turn has come. */
  readonly begin: (author: string) => TakeSlice
  /** Counts an entry that could not be read. */
  readonly refuse: (refused: Refused, author: string) => void
}

export interface Refused {
  readonly bucket: string
  readonly key: string
  readonly code: RejectionCode
}

interface Author {
  waitingBlocks: number
  last: Promise<unknown> | undefined
}

export class BlockIntake {
  readonly #init: BlockIntakeInit
  readonly #authors = new Map<string, Author>()
  #waitingBytes = 0

  constructor(init: BlockIntakeInit) {
    this.#init = init
  }

  /** Takes a block behind the author's earlier ones; resolves when all of it was judged. */
  async take(text: Uint8Array, name: string): Promise<MergeResult> {
    const author = this.#authors.get(name) ?? { waitingBlocks: 0, last: undefined }
    const isFull =
      author.waitingBlocks >= MAX_WAITING_BLOCKS || this.#waitingBytes + text.length > MAX_WAITING_BLOCK_BYTES
    if (isFull) {
      const refused: Refused = { bucket: '', key: '', code: 'TOO_LARGE' }
      this.#init.refuse(refused, name)
      return { accepted: 0, unchanged: 0, rejected: [refused] }
    }
    this.#authors.set(name, author)
    author.waitingBlocks++
    this.#waitingBytes += text.length
    const before = author.last
    const work = (async () => {
      try {
        await before
        return await this.#takeBlock(text, name)
      } finally {
        this.#waitingBytes -= text.length
        if (--author.waitingBlocks === 0) this.#authors.delete(name)
      }
    })()
    author.last = work.catch(() => undefined)
    return await work
  }

  async #takeBlock(text: Uint8Array, author: string): Promise<MergeResult> {
    const { clock, signal, begin, refuse } = this.#init
    const budget = loopBudget(clock)
    const steps = decodeBlock(text)
    const result = { accepted: 0, unchanged: 0, rejected: [] as Refused[] }
    let isEnded = false
    function* drawSlice(): Generator<KeyedEntry> {
      do {
        const { done, value } = steps.next()
        if (done === true) return void (isEnded = true)
        if (value.type === 'entry') yield value.keyed
        else {
          result.rejected.push(value)
          refuse(value, author)
        }
      } while (budget.isTimeLeft('members'))
    }
    let takeSlice: TakeSlice | undefined
    while (!isEnded) {
      const turn = budget.turn('members', { key: author, signal })
      if (turn !== undefined) await turn
      takeSlice ??= begin(author)
      const slice = takeSlice(drawSlice())
      result.accepted += slice.accepted
      result.unchanged += slice.unchanged
      for (const rejection of slice.rejected) result.rejected.push(rejection)
    }
    return result
  }
}
