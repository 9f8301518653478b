/**
 * Blocks of others, decoded and judged in slices, so that no message and no author holds the node up: an author
 * has 10 ms at once and a quarter of the time after that, and all authors together, which cost nobody anything, half
 * of the time, in turn. An author's blocks are taken in order, and bounds keep what waits from growing. While a block waits
 * for its next piece, only later ones of its author wait for it.
 */
import { type Clock, TimeShare } from '@mesh/core'
import type { BlockSteps } from './decode-block.ts'
import { heldBytes, type OpenBlock, openBlock } from './open-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { BlockText, MergeResult, RejectionCode } from '../ledger.ts'
import {
  ALL_AUTHORS_BURST_MS,
  ALL_AUTHORS_TIME_SHARE,
  AUTHOR_TIME_SHARE,
  MAX_WAITING_BLOCK_BYTES,
  MAX_WAITING_BLOCKS,
  SLICE_MS,
} from '../limits.ts'

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

export interface BlockIntake {
  /**
   * Takes a block behind the author's earlier ones; resolves when all of it was judged. Rejects where no more of it comes;
   * what came before was judged.
   */
  take(text: BlockText, author: string): Promise<MergeResult>
}

interface Author {
  readonly name: string
  readonly time: TimeShare
  waitingBlocks: number
  last: Promise<unknown> | undefined
}

export function createBlockIntake(init: BlockIntakeInit): BlockIntake {
  return new SlicingIntake(init)
}

class SlicingIntake implements BlockIntake {
  readonly #init: BlockIntakeInit
  readonly #authors = new Map<string, Author>()
  readonly #time: TimeShare
  #waitingBytes = 0

  constructor(init: BlockIntakeInit) {
    this.#init = init
    const share = { burstMs: ALL_AUTHORS_BURST_MS, oneIn: ALL_AUTHORS_TIME_SHARE }
    this.#time = new TimeShare(share, init.clock)
  }

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
      forgetRested(this.#authors)
    }
  }

  /** Decodes a block into slices as long as the author's budget. */
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
      if (author.time.leftMs <= 0 || stoppedBy === 'time') await author.time.rest(SLICE_MS, signal)
      const turn = this.#time.turn(SLICE_MS, signal)
      if (turn !== undefined) await turn
      takeSlice ??= begin(author.name)
      const startMs = clock.monotonic()
      const sliceMs = Math.min(SLICE_MS, author.time.leftMs)
      const isOver = () => clock.monotonic() - startMs >= sliceMs
      const slice = takeSlice(drawSlice(steps, piece, { isOver, onRefused, onEnd }))
      for (const share of [author.time, this.#time]) share.use(clock.monotonic() - startMs)
      result.accepted += slice.accepted
      result.unchanged += slice.unchanged
      for (const rejection of slice.rejected) result.rejected.push(rejection)
    }
    return result
  }

  #authorOf(name: string): Author {
    const known = this.#authors.get(name)
    if (known !== undefined) return known
    const author: Author = {
      name,
      time: new TimeShare({ burstMs: SLICE_MS, oneIn: AUTHOR_TIME_SHARE }, this.#init.clock),
      waitingBlocks: 0,
      last: undefined,
    }
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

/** Authors are remembered while they have used more than their share, and never many of them. */
function forgetRested(authors: Map<string, Author>): void {
  if (authors.size <= MAX_WAITING_BLOCKS) return
  for (const [name, author] of authors) {
    if (author.waitingBlocks === 0) authors.delete(name)
  }
}
