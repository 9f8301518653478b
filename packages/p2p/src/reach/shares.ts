/**
 * The state that all peers share: the number of newcomers dialled lately, how long dials take, and the pace of
 * speculative relayed connections.
 */
import { backoffMs } from '@mesh/core/limits'
import {
  FEW_NEW_DIALS,
  MAX_DIAL_TOOK_MS,
  MAX_FURTHER_NEW_DIALS,
  MAX_FURTHER_VAIN_DIALS,
  MAX_NEW_DIALS_PER_MINUTE,
  MAX_PARALLEL_DIALS,
  MAX_SPECULATIVE_RELAYED,
  MAX_VAIN_DIALS_PER_MINUTE,
  SLOW_DIAL_MS,
  SPECULATIVE_PACE,
} from './limits.ts'

/** Peers that answer and never end a handshake, as strangers can, leave places for others. */
const LEAST_PARALLEL_DIALS = 4

/** A dial of the last minute. */
interface Begun {
  readonly at: number
  readonly turnOf: string
}

export interface Shares {
  /** When newcomers were dialled, oldest first, within the last minute, and whose turn they had. */
  readonly newcomers: readonly Begun[]
  /** The same for all peers that were dialled, configured ones aside, and of which none has been connected by it. */
  readonly vain: readonly (Begun & { readonly peer: string })[]
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
  vain: [],
  dialTookMs: 0,
  dialsAtOnce: MAX_PARALLEL_DIALS,
  slowedAt: Number.NEGATIVE_INFINITY,
  parallel: 1,
  failures: 0,
  pauseUntil: Number.NEGATIVE_INFINITY,
}

export function withoutOldDials(shares: Shares, now: number): Shares {
  const isNew = ({ at }: Begun) => at > now - 60_000
  const [newcomers, vain] = [shares.newcomers.filter(isNew), shares.vain.filter(isNew)]
  const isSame = newcomers.length === shares.newcomers.length && vain.length === shares.vain.length
  return isSame ? shares : { ...shares, newcomers, vain }
}

/** @param turnOf the address that told of it: one that told of many leaves some dials for others */
export function mayDialNewcomer({ newcomers }: Shares, turnOf: string): boolean {
  return mayBegin(newcomers, turnOf, { most: MAX_NEW_DIALS_PER_MINUTE, further: MAX_FURTHER_NEW_DIALS })
}

/** The same for any peer that is dialled, again or for the first time. */
export function mayDialInVain({ vain }: Shares, turnOf: string): boolean {
  return mayBegin(vain, turnOf, { most: MAX_VAIN_DIALS_PER_MINUTE, further: MAX_FURTHER_VAIN_DIALS })
}

function mayBegin(
  begun: readonly Begun[],
  turnOf: string,
  { most, further }: { readonly most: number; readonly further: number },
): boolean {
  if (begun.length < most) return true
  if (begun.length >= most + further) return false
  return begun.filter((one) => one.turnOf === turnOf).length < FEW_NEW_DIALS
}

/** A dial of the peer succeeded, and brought more than a moment: those of it were not in vain. */
export function afterSuccess(shares: Shares, peer: string): Shares {
  const vain = shares.vain.filter((one) => one.peer !== peer)
  return vain.length === shares.vain.length ? shares : { ...shares, vain }
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
  const pause = backoffMs(SPECULATIVE_PACE, shares.failures)
  return { ...shares, parallel: 1, failures: shares.failures + 1, pauseUntil: now + pause }
}
