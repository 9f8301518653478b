/**
 * Decodes and judges the blocks of others in slices, in the time of the loop budget; authors take turns. An author's
 * blocks are taken in order. Bounds keep the waiting blocks few. A block that waits for its next piece delays only later
 * blocks of its author.
 */
import type { Clock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { BlockSteps } from './decode-block.ts'
import { heldBytes, type OpenBlock, openBlock } from './open-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { BlockText, MergeResult, RejectionCode } from '../ledger.ts'
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
  readonly name: string
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

  /**
   * Takes a block behind the author's earlier ones; resolves when all of it was judged. Rejects where no more of it comes;
   * what came before was judged.
   */
  async take(text: BlockText, name: string): Promise<MergeResult> {
    const author = this.#authorOf(name)
    const bytes = heldBytes(text)
    if (author.waitingBlocks >= MAX_WAITING_BLOCKS || this.#waitingBytes + bytes > MAX_WAITING_BLOCK_BYTES) {
      const refused: Refused = { bucket: '', key: '', code: 'TOO_LARGE' }
      this.#init.refuse(refused, name)
      return { accepted: 0, unchanged: 0, rejected: [refused] }
    }
    author.waitingBlocks++
    this.#waitingBytes += bytes
    const work = this.#takeAfter(author.last, text, author)
    author.last = author.waitingBlocks > 0 ? work.catch(() => undefined) : undefined
    return await work
  }

  async #takeAfter(
    before: Promise<unknown> | undefined,
    text: BlockText,
    author: Author,
  ): Promise<MergeResult> {
    try {
      if (before !== undefined) await before
      return await this.#takeBlock(text, author)
    } finally {
      author.waitingBlocks--
      this.#waitingBytes -= heldBytes(text)
      if (author.waitingBlocks === 0) author.last = undefined
      if (author.waitingBlocks === 0) this.#authors.delete(author.name)
    }
  }

  async #takeBlock(text: BlockText, author: Author): Promise<MergeResult> {
    const block = openBlock(text, this.#init)
    try {
      return await this.#takeSlices(block, author)
    } finally {
      block.close()
    }
  }

  async #takeSlices({ steps, nextPiece }: OpenBlock, author: Author): Promise<MergeResult> {
    const { clock, signal, begin, refuse } = this.#init
    const budget = loopBudget(clock)
    const result = { accepted: 0, unchanged: 0, rejected: [] as Refused[] }
    let takeSlice: TakeSlice | undefined
    let stoppedBy: SliceEnd | undefined
    let piece: Uint8Array | undefined
    const onRefused = (refused: Refused) => {
      result.rejected.push(refused)
      refuse(refused, author.name)
    }
    const onEnd = (by: SliceEnd) => {
      stoppedBy = by
    }
    while (stoppedBy !== 'end') {
      piece = stoppedBy === 'more' ? await nextPiece() : undefined
      const turn = budget.turn('members', { key: author.name, signal })
      if (turn !== undefined) await turn
      takeSlice ??= begin(author.name)
      const isOver = () => !budget.isTimeLeft('members')
      const slice = takeSlice(drawSlice(steps, piece, { isOver, onRefused, onEnd }))
      result.accepted += slice.accepted
      result.unchanged += slice.unchanged
      for (const rejection of slice.rejected) result.rejected.push(rejection)
    }
    return result
  }

  #authorOf(name: string): Author {
    const known = this.#authors.get(name)
    if (known !== undefined) return known
    const author: Author = { name, waitingBlocks: 0, last: undefined }
    this.#authors.set(name, author)
    return author
  }
}

/** Why a slice ended: the block has, its time is over, or a piece of the text has to come first. */
type SliceEnd = 'end' | 'time' | 'more'

function* drawSlice(
  steps: BlockSteps,
  piece: Uint8Array | undefined,
  on: {
    readonly isOver: () => boolean
    readonly onRefused: (refused: Refused) => void
    readonly onEnd: (by: SliceEnd) => void
  },
): Generator<KeyedEntry> {
  for (let step = steps.next(piece); step.done !== true; step = steps.next()) {
    if (step.value.type === 'more') return on.onEnd('more')
    if (step.value.type === 'entry') yield step.value.keyed
    else if (step.value.type === 'refused') on.onRefused(step.value)
    if (on.isOver()) return on.onEnd('time')
  }
  on.onEnd('end')
}
