/** Bounds on what an honest remote asks and sends in one session, from the two ledgers' sizes. */
import { LEAF_ENTRIES, MAX_LEDGER_ENTRIES, RANGE_FANOUT } from '../limits.ts'

interface Amounts {
  /** Ranges received; with lists, items, wants and entries they are what the remote sends. */
  ranges: number
  lists: number
  items: number
  wants: number
  entries: number
  /** Done for the remote: ranges cut, entries listed and entries sent. */
  splits: number
  listed: number
  sent: number
  /** Own entries looked at to compare them with lists. */
  walked: number
}

/** An allowance for small ledgers, and for what is written while the session lasts. */
const SLACK = 1024

/** A range is cut while it holds more than a leaf's entries, on each of a few levels. */
const splitsOf = (size: number) => Math.ceil((8 * size) / LEAF_ENTRIES) + SLACK

/** @param most entries that a remote may claim to hold; beyond, it is treated as one with that many */
export function createBudget(ours: number, claimed: number, most: number = MAX_LEDGER_ENTRIES) {
  const theirs = Math.min(claimed, most)
  const left: Amounts = {
    ranges: RANGE_FANOUT * splitsOf(theirs),
    lists: RANGE_FANOUT * splitsOf(ours),
    items: theirs + SLACK,
    wants: ours + SLACK,
    entries: theirs + SLACK,
    splits: splitsOf(ours),
    listed: 2 * (ours + RANGE_FANOUT * splitsOf(theirs)),
    sent: 2 * ours + SLACK,
    walked: 2 * ours + SLACK,
  }
  return {
    /** False when less than `amount` is left. */
    take(kind: keyof Amounts, amount: number): boolean {
      left[kind] -= amount
      return left[kind] >= 0
    },
  }
}

export type SessionBudget = ReturnType<typeof createBudget>
