/**
 * Blocks of others, decoded and judged in slices, so that no message and no author holds the node up: an author
 * has 10 ms at once and a quarter of the time after that. Its blocks are taken in order, and a bound keeps what
 * waits from growing.
 */
import { type Clock, delay } from '@mesh/core'
import { type Decoded, decodeBlock } from './decode-block.ts'
import type { KeyedEntry } from './entry.ts'
import type { MergeResult, RejectionCode } from './ledger.ts'
import { AUTHOR_TIME_SHARE, MAX_BLOCK_BYTES, MAX_WAITING_BLOCKS, SLICE_MS } from './limits.ts'
import type { BlockHead } from './snapshot.ts'

/** Takes entries until it has drawn all; called once for each slice. */
export type TakeSlice = (entries: Iterable<KeyedEntry>) => MergeResult

export interface IntakeInit {
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

export type Intake = (json: Uint8Array, author: string) => Promise<MergeResult>

interface Author {
  /** Milliseconds that it may use now. */
  budgetMs: number
  refilledAtMs: number
  waitingBlocks: number
  waitingBytes: number
  last: Promise<unknown> | undefined
}

export function createIntake(init: IntakeInit): Intake {
  const { clock, signal } = init
  const authors = new Map<string, Author>()

  const authorOf = (name: string): Author => {
    let author = authors.get(name)
    if (author === undefined) {
      author = {
        budgetMs: SLICE_MS,
        refilledAtMs: clock.now(),
        waitingBlocks: 0,
        waitingBytes: 0,
        last: undefined,
      }
      authors.set(name, author)
    }
    return author
  }
  const refill = (author: Author) => {
    const now = clock.now()
    const gained = Math.max(0, now - author.refilledAtMs) / AUTHOR_TIME_SHARE
    author.budgetMs = Math.min(SLICE_MS, author.budgetMs + gained)
    author.refilledAtMs = now
  }
  /** Until the whole budget is there again. */
  const rest = async (author: Author): Promise<void> => {
    await delay(clock, (SLICE_MS - author.budgetMs) * AUTHOR_TIME_SHARE, signal)
    refill(author)
  }
  /** Decodes a block into slices as long as the author's budget. */
  const takeBlock = async (json: Uint8Array, name: string, author: Author): Promise<MergeResult> => {
    const result = { accepted: 0, unchanged: 0, rejected: [] as Refused[] }
    const steps = decodeBlock(json)
    let take: TakeSlice | undefined
    refill(author)
    for (let done = false; !done; ) {
      if (author.budgetMs <= 0 || take !== undefined) await rest(author)
      take ??= init.begin(name)
      const startMs = clock.now()
      const slice = take(
        drawSlice(
          steps,
          () => clock.now() - startMs >= author.budgetMs,
          (refused) => {
            result.rejected.push(refused)
            init.refuse(refused, name)
          },
          () => {
            done = true
          },
        ),
      )
      author.budgetMs -= clock.now() - startMs
      refill(author)
      result.accepted += slice.accepted
      result.unchanged += slice.unchanged
      for (const rejection of slice.rejected) result.rejected.push(rejection)
    }
    return result
  }
  return async (json, name) => {
    const author = authorOf(name)
    refill(author)
    if (
      author.waitingBlocks >= MAX_WAITING_BLOCKS ||
      author.waitingBytes + json.length > 2 * MAX_BLOCK_BYTES
    ) {
      const refused: Refused = { bucket: '', key: '', code: 'TOO_LARGE' }
      init.refuse(refused, name)
      return { accepted: 0, unchanged: 0, rejected: [refused] }
    }
    author.waitingBlocks++
    author.waitingBytes += json.length
    const before = author.last
    const work = (async () => {
      try {
        if (before !== undefined) await before
        return await takeBlock(json, name, author)
      } finally {
        author.waitingBlocks--
        author.waitingBytes -= json.length
        if (author.waitingBlocks === 0) author.last = undefined
        forgetRested(authors)
      }
    })()
    author.last = author.waitingBlocks > 0 ? work.catch(() => undefined) : undefined
    return await work
  }
}

function* drawSlice(
  steps: Generator<Decoded, BlockHead>,
  isOver: () => boolean,
  refuse: (refused: Refused) => void,
  end: () => void,
): Generator<KeyedEntry> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return end()
    if (step.value.type === 'entry') yield step.value.keyed
    else refuse(step.value)
    if (isOver()) return
  }
}

/** Authors are remembered while they have used more than their share, and never many of them. */
function forgetRested(authors: Map<string, Author>): void {
  if (authors.size <= MAX_WAITING_BLOCKS) return
  for (const [name, author] of authors) {
    if (author.waitingBlocks === 0) authors.delete(name)
  }
}
