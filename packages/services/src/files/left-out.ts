/** The entries of a share that do not arrive: how many, and the first of them by name and reason. */
import { MAX_LEFT_OUT_CHARS, MAX_LEFT_OUT_NAMES } from './limits.ts'
import { shownPath } from './path-bytes.ts'

/** Entries that do not arrive. */
export interface LeftOut {
  readonly count: number
  /** `PATH: REASON` of the first 20, for people; may be another member's text. */
  readonly names: readonly string[]
}

/** Nothing is left out. */
export const NOTHING_LEFT_OUT: LeftOut = { count: 0, names: [] }

/** Collects entries that do not arrive, within bounds. */
export class LeftOutList implements LeftOut {
  readonly names: string[] = []
  count = 0

  /** Adds an entry and why it does not arrive. */
  add(path: string, reason: string): void {
    this.addAll({ count: 1, names: [`${shownPath(path)}: ${reason}`] })
  }

  /** Adds what another list holds. */
  addAll({ count, names }: LeftOut): void {
    this.count += count
    for (const name of names) {
      if (this.names.length === MAX_LEFT_OUT_NAMES) return
      this.names.push(name.slice(0, MAX_LEFT_OUT_CHARS).toWellFormed())
    }
  }
}
