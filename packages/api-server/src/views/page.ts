/** A page of a read: so many rows after one, within bounds of what is looked at and of what is answered. */
import { MAX_PAGE_ENTRIES } from '@mesh/api-contract'
import { Heap } from '@mesh/core'
import { MAX_WHOLE_ANSWER_BYTES } from '../limits.ts'
import { type AnswerPart, costOf } from './answer-parts.ts'

/** The rows that a request asks for; neither given: all of them, as one answer. */
export interface PageQuery<After> {
  readonly after?: After | undefined
  readonly limit?: number | undefined
}

/** The rows of one page, and where the next begins. */
export interface Page<Row> {
  /** The rows that are shown, each with its text. */
  readonly rows: readonly { readonly row: Row; readonly text: string }[]
  /** The row after which the next page begins; undefined on the last page. */
  readonly last: Row | undefined
}

/** Does the request ask for a page? */
export function isPaged({ after, limit }: PageQuery<unknown>): boolean {
  return after !== undefined || limit !== undefined
}

/**
 * Takes rows until the page is full; one that is too large for a page stands alone on it.
 *
 * @param part the row as the answer has it; without a text it is not shown, and costs
 */
export function takePage<Row>(
  rows: Iterable<Row>,
  limit: number | undefined,
  part: (row: Row) => AnswerPart,
): Page<Row> {
  const taken: { row: Row; text: string }[] = []
  const most = limit ?? MAX_PAGE_ENTRIES
  let cost = 0
  let last: Row | undefined
  for (const row of rows) {
    const made = part(row)
    const rowCost = costOf(made)
    const isFull = taken.length >= most || (last !== undefined && cost + rowCost > MAX_WHOLE_ANSWER_BYTES)
    if (isFull) return { rows: taken, last }
    cost += rowCost
    last = row
    if (made.text !== '') taken.push({ row, text: made.text })
  }
  return { rows: taken, last: undefined }
}

/** Gives rows in an order, of which only those that are taken are sorted: a page takes few of tens of thousands. */
export function inOrder<Row>(rows: readonly Row[], isBefore: (a: Row, b: Row) => boolean): Iterable<Row> {
  return {
    *[Symbol.iterator]() {
      const waiting = new Heap(isBefore, [...rows])
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) yield next
    },
  }
}
