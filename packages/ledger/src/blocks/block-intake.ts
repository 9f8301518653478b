/**
 * Blocks of others, decoded and judged in slices, so that no message and no author holds the node up: an author
 * has 10 ms at once and a quarter of the time after that. Its blocks are taken in order, and a bound keeps what
 * waits from growing.
 */
import { type Clock, delay } from '@mesh/core'
import { type Decoded, decodeBlock } from './decode-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { MergeResult, RejectionCode } from '../ledger.ts'
import { AUTHOR_TIME_SHARE, MAX_BLOCK_BYTES, MAX_WAITING_BLOCKS, SLICE_MS } from '../limits.ts'
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
  /** Milliseconds that it may use now. */
  budgetMs: number
  refilledAtMs: number
  waitingBlocks: number
  waitingBytes: number
  last: Promise<unknown> | undefined
}

export function createBlockIntake(init: BlockIntakeInit): BlockIntake {
  return new SlicingIntake(init)
}

class SlicingIntake implements BlockIntake {
  readonly #init: BlockIntakeInit
  readonly #authors = new Map<string, Author>()

  constructor(init: BlockIntakeInit) {
    this.#init = init
  }

  async take(json: Uint8Array, name: string): Promise<MergeResult> {
    const author = this.#authorOf(name)
    this.#refill(author)
    if (
      author.waitingBlocks >= MAX_WAITING_BLOCKS ||
      author.waitingBytes + json.length > 2 * MAX_BLOCK_BYTES
    ) {
      const refused: Refused = { bucket: '', key: '', code: 'TOO_LARGE' }
      this.#init.refuse(refused, name)
      return { accepted: 0, unchanged: 0, rejected: [refused] }
    }
    author.waitingBlocks++
    author.waitingBytes += json.length
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
      author.waitingBytes -= json.length
      if (author.waitingBlocks === 0) author.last = undefined
      forgetRested(this.#authors)
    }
  }

  /** Decodes a block into slices as long as the author's budget. */
  async #takeBlock(json: Uint8Array, author: Author): Promise<MergeResult> {
    const { clock, begin, refuse } = this.#init
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
    this.#refill(author)
    while (!done) {
      if (author.budgetMs <= 0 || takeSlice !== undefined) await this.#rest(author)
      takeSlice ??= begin(author.name)
      const startMs = clock.now()
      const isOver = () => clock.now() - startMs >= author.budgetMs
      const slice = takeSlice(drawSlice(steps, { isOver, onRefused, onEnd }))
      author.budgetMs -= clock.now() - startMs
      this.#refill(author)
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
      budgetMs: SLICE_MS,
      refilledAtMs: this.#init.clock.now(),
      waitingBlocks: 0,
      waitingBytes: 0,
      last: undefined,
    }
    this.#authors.set(name, author)
    return author
  }

  #refill(author: Author): void {
    const now = this.#init.clock.now()
    const gained = Math.max(0, now - author.refilledAtMs) / AUTHOR_TIME_SHARE
    author.budgetMs = Math.min(SLICE_MS, author.budgetMs + gained)
    author.refilledAtMs = now
  }

  /** Waits until the author's whole budget is there again. */
  async #rest(author: Author): Promise<void> {
    const { clock, signal } = this.#init
    await delay(clock, (SLICE_MS - author.budgetMs) * AUTHOR_TIME_SHARE, signal)
    this.#refill(author)
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
    else on.onRefused(step.value)
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
