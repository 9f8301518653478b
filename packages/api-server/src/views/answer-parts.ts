/**
 * Answers that may be large are made of parts, of which no more are made at once than their reader takes. What a part
 * costs is counted also where it adds no text, so that a walk over tombstones has its pauses, too.
 */
import { stringifyExactJson } from '@mesh/core'
import { ANSWER_PIECE_CHARS, MAX_WHOLE_ANSWER_BYTES } from '../limits.ts'

/** A text of an answer. */
export interface AnswerPart {
  readonly text: string
  /** Characters that were looked at to make it, where they are more than those of the text. */
  readonly cost?: number
}

/** A text made as one, or the pieces of a large one: each walk through them makes them anew. */
export type AnswerBody = Buffer | Iterable<string>

/** Characters that a part counts for at least: finding it takes as long as making them. */
const LEAST_COST = 64

/** The cost of a part, in characters. */
export function costOf({ text, cost = 0 }: AnswerPart): number {
  return Math.max(text.length, cost, LEAST_COST)
}

/** Makes a small body at once; of a large one it learns only that it is. */
export function bodyOf(parts: () => Iterable<AnswerPart>): AnswerBody {
  const texts: string[] = []
  let cost = 0
  for (const part of parts()) {
    cost += costOf(part)
    if (cost > MAX_WHOLE_ANSWER_BYTES) return { [Symbol.iterator]: () => piecesOf(parts()) }
    texts.push(part.text)
  }
  return Buffer.from(texts.join(''))
}

/** Joins short parts, so that each piece is worth a write; a piece is empty where only tombstones were. */
function* piecesOf(parts: Iterable<AnswerPart>): Generator<string> {
  let text = ''
  let cost = 0
  for (const part of parts) {
    text += part.text
    cost += costOf(part)
    if (cost < ANSWER_PIECE_CHARS) continue
    yield text
    text = ''
    cost = 0
  }
  if (text !== '') yield text
}

/** The parts of a JSON list; rows without a view are left out, and counted. */
export function* listParts<Row>(
  rows: Iterable<Row>,
  view: (row: Row) => unknown,
  costOfRow: (row: Row) => number = () => 0,
): Generator<AnswerPart> {
  let before = '['
  for (const row of rows) {
    const shown = view(row)
    if (shown === undefined) yield { text: '', cost: costOfRow(row) }
    else {
      yield { text: before + stringifyExactJson(shown), cost: costOfRow(row) }
      before = ','
    }
  }
  yield { text: before === '[' ? '[]\n' : ']\n' }
}
