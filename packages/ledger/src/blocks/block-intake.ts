/**
 * Blocks of others, decoded and judged in slices, so that no message and no author holds the node up: an author
 * has 10 ms at once and a quarter of the time after that, and all authors together, which cost nobody anything, half
 * of the time, in turn. An author's blocks are taken in order, and bounds keep what waits from growing.
 */
import { type Clock, TimeShare } from '@mesh/core'
import { type Decoded, decodeBlock } from './decode-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { MergeResult, RejectionCode } from '../ledger.ts'
import {
  ALL_AUTHORS_BURST_MS,
  ALL_AUTHORS_TIME_SHARE,
  AUTHOR_TIME_SHARE,
  MAX_WAITING_BLOCK_BYTES,
  MAX_WAITING_BLOCKS,
  SLICE_MS,
} from '../limits.ts'
import type { BlockHead } from '../state/snapshot.ts'

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
  /** Takes a block behind the author's earlier ones; resolves when all of it was judged. */
  take(json: Uint8Array, author: string): Promise<MergeResult>
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

  async take(json: Uint8Array, name: string): Promise<MergeResult> {
    const author = this.#authorOf(name)
    if (
      author.waitingBlocks >= MAX_WAITING_BLOCKS ||
      this.#waitingBytes + json.length > MAX_WAITING_BLOCK_BYTES
    ) {
      const refused: Refused = { bucket: '', key: '', code: 'TOO_LARGE' }
      this.#init.refuse(refused, name)
      return { accepted: 0, unchanged: 0, rejected: [refused] }
    }
    author.waitingBlocks++
    this.#waitingBytes += json.length
    const work = this.#takeAfter(author.last, json, author)
    author.last = author.waitingBlocks > 0 ? work.catch(() => undefined) : undefined
    return await work
  }

  async #takeAfter(
    before: Promise<unknown> | undefined,
    json: Uint8Array,
    author: Author,
  ): Promise<MergeResult> {
    try {
      if (before !== undefined) await before
      return await this.#takeBlock(json, author)
    } finally {
      author.waitingBlocks--
      this.#waitingBytes -= json.length
      if (author.waitingBlocks === 0) author.last = undefined
      forgetRested(this.#authors)
    }
  }

  /** Decodes a block into slices as long as the author's budget. */
  async #takeBlock(json: Uint8Array, author: Author): Promise<MergeResult> {
    const { clock, signal, begin, refuse } = this.#init
    const result = { accepted: 0, unchanged: 0, rejected: [] as Refused[] }
    const steps = decodeBlock(json)
    let takeSlice: TakeSlice | undefined
    let done = false
    const onRefused = (refused: Refused) => {
      result.rejected.push(refused)
      refuse(refused, author.name)
    }
    const onEnd = () => {
      done = true
    }
    while (!done) {
      if (author.time.leftMs <= 0 || takeSlice !== undefined) await author.time.rest(SLICE_MS, signal)
      const turn = this.#time.turn(SLICE_MS, signal)
      if (turn !== undefined) await turn
      takeSlice ??= begin(author.name)
      const startMs = clock.monotonic()
      const sliceMs = Math.min(SLICE_MS, author.time.leftMs)
      const isOver = () => clock.monotonic() - startMs >= sliceMs
      const slice = takeSlice(drawSlice(steps, { isOver, onRefused, onEnd }))
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

function* drawSlice(
  steps: Generator<Decoded, BlockHead>,
  on: {
    readonly isOver: () => boolean
    readonly onRefused: (refused: Refused) => void
    readonly onEnd: () => void
  },
): Generator<KeyedEntry> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return on.onEnd()
    if (step.value.type === 'entry') yield step.value.keyed
    else if (step.value.type === 'refused') on.onRefused(step.value)
    if (on.isOver()) return
  }
}

/** Authors are remembered while they have used more than their share, and never many of them. */
function forgetRested(authors: Map<string, Author>): void {
  if (authors.size <= MAX_WAITING_BLOCKS) return
  for (const [name, author] of authors) {
    if (author.waitingBlocks === 0) authors.delete(name)
  }
}
