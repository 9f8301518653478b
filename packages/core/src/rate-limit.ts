/** Rates: a bucket of tokens, one for each remote address, and one that addresses share. */
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'

export interface TokenBucket {
  /**
   * Takes one; false when none is left, or too few would stay.
   * @param kept how many have to stay, 0 unless given
   */
  take(kept?: number): boolean
}

export interface Rate {
  /** How many are let through a second, in the long run. */
  readonly perSecond: number
  /** How many are let through at once. */
  readonly burst: number
}

/** A bucket that starts full and refills steadily. */
export function createTokenBucket(rate: Rate, clock: Clock): TokenBucket {
  let tokens = rate.burst
  let last = clock.monotonic()
  return {
    take(kept = 0) {
      const now = clock.monotonic()
      tokens = Math.min(rate.burst, tokens + ((now - last) * rate.perSecond) / 1000)
      last = now
      if (tokens < 1 + kept) return false
      tokens--
      return true
    },
  }
}

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
      if (!all.take(count)) return false
      taken.set(key, { count: count + 1, at: now })
      return true
    },
  }
}

/** True for 127.0.0.0/8 and ::1. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === '::1'
}

/**
 * Gives what one host's addresses have in common, to count by: an IPv4 address itself, also one mapped into
 * IPv6, and of an IPv6 address the /64, from which a host can choose any.
 */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  return networkOf(address)
}

/** The first four groups of an IPv6 address, `::` filled in. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...after].slice(0, 4).join(':')
}
