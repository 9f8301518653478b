/**
 * Expects the breaks of a NAT that forgets its mappings periodically. Shortly before the next break, packets also go by the
 * stream, so that none is lost while another mapping is found. Pure.
 */
import {
  BREAK_EARLY_PART,
  BREAK_LATE_PART,
  BREAKS_KEPT,
  LEAST_BREAK_MS,
  MOST_BREAK_MS,
  MOST_BREAK_RATIO,
  ONE_BREAK_MS,
} from './limits.ts'

/** The latest times at which a path broke, with one more; what shows twice is one break. */
export function withBreak(brokeAt: readonly number[], now: number): readonly number[] {
  if (now - (brokeAt.at(-1) ?? Number.NEGATIVE_INFINITY) < ONE_BREAK_MS) return brokeAt
  return [...brokeAt, now].slice(-BREAKS_KEPT)
}

/** Gives the time in which the next break is expected, in ms of the clock; undefined: there is no period. */
export function expectedBreak(
  brokeAt: readonly number[],
): { readonly from: number; readonly until: number } | undefined {
  const gaps = brokeAt.slice(1).map((at, index) => at - (brokeAt[index] ?? at))
  const last = brokeAt.at(-1)
  if (last === undefined || gaps.length < 2) return undefined
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)]
  if (least < LEAST_BREAK_MS || most > MOST_BREAK_MS || most > least * MOST_BREAK_RATIO) return undefined
  return { from: last + least * BREAK_EARLY_PART, until: last + most * BREAK_LATE_PART }
}
