/**
 * The state that all peers share: the number of newcomers dialled lately, how long dials take, and the pace of
 * speculative relayed connections.
 */
import {
  FEW_NEW_DIALS,
  MAX_DIAL_TOOK_MS,
  MAX_FURTHER_NEW_DIALS,
  MAX_NEW_DIALS_PER_MINUTE,
  MAX_PARALLEL_DIALS,
  MAX_SPECULATIVE_RELAYED,
  SLOW_DIAL_MS,
  SPECULATIVE_PACE_MAX_MS,
  SPECULATIVE_PACE_MIN_MS,
} from '../limits.ts'

/** Peers that answer and never end a handshake, as strangers can, leave places for others. */
const LEAST_PARALLEL_DIALS = 4

export interface Shares {
  /** When newcomers were dialled, oldest first, within the last minute, and whose turn they had. */
  readonly newcomers: readonly { readonly at: number; readonly turnOf: string }[]
  /** How long direct dials that succeeded took lately, in ms; long where a machine is busy. */
  readonly dialTookMs: number
  /** Peers dialled at a time: half as many after a slow dial, one more after a quick one. */
  readonly dialsAtOnce: number
  /** When that was halved last. */
  readonly slowedAt: number
  /** Speculative relayed connections tried at a time. */
  readonly parallel: number
  /** Those in a row that did not become direct. */
  readonly failures: number
  /** No speculative relayed connection before this time. */
  readonly pauseUntil: number
}

export const INITIAL_SHARES: Shares = {
  newcomers: [],
  dialTookMs: 0,
  dialsAtOnce: MAX_PARALLEL_DIALS,
  slowedAt: Number.NEGATIVE_INFINITY,
  parallel: 1,
  failures: 0,
  pauseUntil: Number.NEGATIVE_INFINITY,
}

export function withoutOldNewcomers(shares: Shares, now: number): Shares {
  const newcomers = shares.newcomers.filter(({ at }) => at > now - 60_000)
  return newcomers.length === shares.newcomers.length ? shares : { ...shares, newcomers }
}

/** @param turnOf the address that told of it: one that told of many leaves some dials for others */
export function mayDialNewcomer({ newcomers }: Shares, turnOf: string): boolean {
  if (newcomers.length < MAX_NEW_DIALS_PER_MINUTE) return true
  if (newcomers.length >= MAX_NEW_DIALS_PER_MINUTE + MAX_FURTHER_NEW_DIALS) return false
  return newcomers.filter((one) => one.turnOf === turnOf).length < FEW_NEW_DIALS
}

/**
 * A direct dial succeeded, or somebody answered and the handshake was not done in its time. A longer one counts at once, a
 * shorter one little by little. Where handshakes are slow more at a time would make each of them slower still, until none
 * is done in its time.
 */
export function afterDial(shares: Shares, since: number, now: number): Shares {
  const tookMs = now - since
  const average = Math.max(tookMs, (3 * shares.dialTookMs + tookMs) / 4)
  const dialTookMs = Math.min(MAX_DIAL_TOOK_MS, average)
  if (tookMs < SLOW_DIAL_MS) {
    return { ...shares, dialTookMs, dialsAtOnce: Math.min(MAX_PARALLEL_DIALS, shares.dialsAtOnce + 1) }
  }
  // those that were under way already are one sign
  if (since < shares.slowedAt) return { ...shares, dialTookMs }
  const dialsAtOnce = Math.max(LEAST_PARALLEL_DIALS, Math.floor(shares.dialsAtOnce / 2))
  return { ...shares, dialTookMs, dialsAtOnce, slowedAt: now }
}

/** A speculative relayed connection became direct, or did not in its time. */
export function afterOutcome(shares: Shares, direct: boolean, now: number): Shares {
  if (direct) {
    const parallel = Math.min(MAX_SPECULATIVE_RELAYED, 2 * shares.parallel)
    return { ...shares, parallel, failures: 0, pauseUntil: Number.NEGATIVE_INFINITY }
  }
  // several that fail together are one sign
  if (now < shares.pauseUntil) return { ...shares, parallel: 1 }
  const pause = Math.min(
    SPECULATIVE_PACE_MAX_MS,
    SPECULATIVE_PACE_MIN_MS * 2 ** Math.min(shares.failures, 30),
  )
  return { ...shares, parallel: 1, failures: shares.failures + 1, pauseUntil: now + pause }
}
