/** Rates: a bucket of tokens, one for each remote address, and one that addresses share. */
import { addressGroup } from './address-group.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import { createTokenBucket, type Rate, type TokenBucket } from './limits/rate.ts'

export interface RateLimiterInit extends Rate {
  /** How many addresses are remembered; of more, the one heard longest ago is forgotten. */
  readonly maxAddresses: number
  /** `network`: IPv4 addresses of a /24 share one bucket, too. */
  readonly by?: 'address' | 'network'
}

/** One bucket for each remote address; of the IPv6 addresses that one host can choose from (a /64), one for all. */
export function createRateLimiter(rate: RateLimiterInit, clock: Clock) {
  const buckets = new BoundedMap<string, TokenBucket>(rate.maxAddresses)
  return {
    /** Takes one; false when none is left for this address. */
    take(address: string): boolean {
      const exact = addressGroup(address)
      const key = rate.by === 'network' ? exact.replace(/\.\d+$/, '') : exact
      const bucket = buckets.get(key) ?? createTokenBucket(rate, clock)
      buckets.set(key, bucket)
      return bucket.take()
    },
  }
}

export interface FairRateInit {
  readonly ofAddress: Rate
  /** The rate of all addresses together. */
  readonly ofAll: Rate
  /** How many addresses are remembered; of more, the one heard longest ago is forgotten. */
  readonly maxAddresses: number
}

/**
 * A rate for each remote address, and one for all together, of which nobody has to be first: the less of it is left, the less
 * an address may have taken of late to take one more. So a few addresses that ask without pause leave some to one that asks
 * for little; one address alone has half of what all may take at once, at most.
 */
export function createFairRate({ ofAddress, ofAll, maxAddresses }: FairRateInit, clock: Clock) {
  const own = createRateLimiter({ ...ofAddress, maxAddresses }, clock)
  const all = createTokenBucket(ofAll, clock)
  const taken = new BoundedMap<string, { count: number; at: number }>(maxAddresses)
  /** The time in which `ofAll` fills up, and what was taken fades. */
  const fadeMs = (1000 * ofAll.burst) / ofAll.perSecond
  return {
    /** Takes one; false when none is left for this address. */
    take(address: string): boolean {
      if (!own.take(address)) return false
      const key = addressGroup(address)
      const now = clock.monotonic()
      const last = taken.get(key)
      const count = last === undefined ? 0 : last.count * Math.exp((last.at - now) / fadeMs)
      if (!all.take(1, count)) return false
      taken.set(key, { count: count + 1, at: now })
      return true
    },
  }
}
