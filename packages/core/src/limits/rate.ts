/** Rate limits: token buckets by peer, by address and in all. */
import { addressGroup } from '../address-group.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'

export interface Rate {
  /** Number of tokens that come back in a second. */
  readonly perSecond: number
  /** Number of tokens that can be taken at once. */
  readonly burst: number
}

/** Starts full and refills steadily. */
export interface TokenBucket {
  /**
   * Takes tokens; false when too few are left, which takes none.
   *
   * @param amount number of tokens, 1 unless given
   * @param kept number of tokens that must stay, 0 unless given
   */
  take(amount?: number, kept?: number): boolean
}

export function createTokenBucket({ perSecond, burst }: Rate, clock: Clock): TokenBucket {
  let tokens = burst
  let filledAtMs = clock.monotonic()
  return {
    take(amount = 1, kept = 0) {
      const nowMs = clock.monotonic()
      tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) * perSecond) / 1000)
      filledAtMs = nowMs
      if (tokens < amount + kept) return false
      tokens -= amount
      return true
    },
  }
}

export interface RateInit {
  /** Rate of one peer. */
  readonly perPeer?: Rate
  /** Rate of one address: IPv4, or a /64 of IPv6. */
  readonly perAddress?: Rate
  /** Counts the IPv4 addresses of a /24 as one address. */
  readonly byNetwork?: boolean
  /**
   * Rate of all together. With `perAddress` too it is shared fairly: an address that has taken much of late leaves the last
   * tokens to the others.
   */
  readonly all?: Rate
  /** Number of peers, and of addresses, that are remembered; 4,096 unless given. The one heard longest ago is forgotten. */
  readonly maxRemembered?: number
}

export interface RateLimit {
  /**
   * Takes tokens in the name of a peer and an address; false when one of them, or all together, took too many.
   *
   * @param amount number of tokens, 1 unless given
   */
  take(from?: { readonly peer?: string; readonly address?: string }, amount?: number): boolean
}

export function createRate(init: RateInit, clock: Clock): RateLimit {
  const { perPeer, perAddress, all, byNetwork = false, maxRemembered = 4_096 } = init
  const ofPeer = perPeer && bucketsByKey(perPeer, maxRemembered, clock)
  const ofAddress = perAddress && bucketsByKey(perAddress, maxRemembered, clock)
  const ofAll = all && createTokenBucket(all, clock)
  const recent = all && perAddress && recentAmounts(all, maxRemembered, clock)
  return {
    take({ peer = '', address = '' } = {}, amount = 1) {
      const group = addressGroup(address)
      const key = byNetwork ? group.replace(/\.\d+$/, '') : group
      if (ofPeer?.(peer).take(amount) === false) return false
      if (ofAddress?.(key).take(amount) === false) return false
      if (ofAll?.take(amount, recent?.of(key)) === false) return false
      recent?.add(key, amount)
      return true
    },
  }
}

function bucketsByKey(rate: Rate, maxRemembered: number, clock: Clock): (key: string) => TokenBucket {
  const buckets = new BoundedMap<string, TokenBucket>(maxRemembered)
  return (key) => {
    const bucket = buckets.get(key) ?? createTokenBucket(rate, clock)
    buckets.set(key, bucket)
    return bucket
  }
}

/** The amount that each key took of late. It fades in the time in which the bucket of all fills up. */
function recentAmounts({ perSecond, burst }: Rate, maxRemembered: number, clock: Clock) {
  const taken = new BoundedMap<string, { readonly amount: number; readonly atMs: number }>(maxRemembered)
  const fadeMs = (1000 * burst) / perSecond
  const of = (key: string): number => {
    const last = taken.get(key)
    return last === undefined ? 0 : last.amount * Math.exp((last.atMs - clock.monotonic()) / fadeMs)
  }
  return {
    of,
    add: (key: string, amount: number) =>
      void taken.set(key, { amount: of(key) + amount, atMs: clock.monotonic() }),
  }
}
