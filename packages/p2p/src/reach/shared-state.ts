/** The state that all peers share: the dials of the last minute, and the pace of speculative relayed connections. */
import { backoffMs } from '@mesh/core/limits'
import {
  FEW_NEW_DIALS,
  MAX_FURTHER_VAIN_DIALS,
  MAX_SPECULATIVE_RELAYED,
  MAX_VAIN_DIALS_PER_MINUTE,
  SPECULATIVE_PACE,
} from './limits.ts'

/** A dial of the last minute of which no connection came. */
interface VainDial {
  readonly at: number
  readonly peer: string
  /** The address that told of the peer. */
  readonly teller: string
}

export interface SharedState {
  /** Oldest first; those of configured peers do not count. */
  readonly vain: readonly VainDial[]
  /** Speculative relayed connections tried at a time. */
  readonly parallel: number
  /** Those in a row that did not become direct. */
  readonly failures: number
  /** No speculative relayed connection before this time. */
  readonly pauseUntil: number
}

export const INITIAL_STATE: SharedState = {
  vain: [],
  parallel: 1,
  failures: 0,
  pauseUntil: Number.NEGATIVE_INFINITY,
}

export function withoutOldDials(shared: SharedState, now: number): SharedState {
  const vain = shared.vain.filter(({ at }) => at > now - 60_000)
  return vain.length === shared.vain.length ? shared : { ...shared, vain }
}

/** @param teller the address that told of the peer: one that told of many leaves some dials for others */
export function mayDial({ vain }: SharedState, teller: string): boolean {
  if (vain.length < MAX_VAIN_DIALS_PER_MINUTE) return true
  if (vain.length >= MAX_VAIN_DIALS_PER_MINUTE + MAX_FURTHER_VAIN_DIALS) return false
  return vain.filter((dial) => dial.teller === teller).length < FEW_NEW_DIALS
}

/** A dial of the peer succeeded, and brought more than a moment: those of it were not in vain. */
export function afterSuccess(shared: SharedState, peer: string): SharedState {
  const vain = shared.vain.filter((one) => one.peer !== peer)
  return vain.length === shared.vain.length ? shared : { ...shared, vain }
}

/** A speculative relayed connection became direct, or did not in its time. */
export function afterOutcome(shared: SharedState, direct: boolean, now: number): SharedState {
  if (direct) {
    const parallel = Math.min(MAX_SPECULATIVE_RELAYED, 2 * shared.parallel)
    return { ...shared, parallel, failures: 0, pauseUntil: Number.NEGATIVE_INFINITY }
  }
  // several that fail together are one sign
  if (now < shared.pauseUntil) return { ...shared, parallel: 1 }
  const pause = backoffMs(SPECULATIVE_PACE, shared.failures)
  return { ...shared, parallel: 1, failures: shared.failures + 1, pauseUntil: now + pause }
}
