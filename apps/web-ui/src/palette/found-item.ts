import type { Rankable } from '../model/palette-rank.ts'

/** A row of the search. */
export interface FoundItem extends Rankable {
  /** Unlike the others of its group. */
  readonly id: string
  /** Softer text at the end of the row. */
  readonly detail?: string
  /** The peer whose glyph stands before it. */
  readonly peer?: string
  readonly run: () => void
  /** The search stays open for what comes of it. */
  readonly stays?: boolean
}
