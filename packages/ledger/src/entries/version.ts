/** Versions of our own writes (docs/WIRE.md 4.6). */
import { sha256 } from '@noble/hashes/sha2.js'
import { MAX_FUTURE_MS, MAX_VERSION, VERSION_TAG_BITS } from '../limits.ts'

const TAG_STEP = 1n << VERSION_TAG_BITS

/**
 * Gives max(previous + 1, now); the greatest version has no next one and falls back to now, which everyone
 * refuses.
 */
export function versionAfter(previous: bigint, nowNs: bigint): bigint {
  const next = (previous + 1n) & MAX_VERSION
  return next > nowNs ? next : nowNs
}

/** The first version from `versionAfter` on whose low bits are the writer's. */
export function taggedVersionAfter(previous: bigint, nowNs: bigint, tag: bigint): bigint {
  const least = versionAfter(previous, nowNs)
  const tagged = least - (least % TAG_STEP) + tag
  const next = tagged < least ? tagged + TAG_STEP : tagged
  return next > MAX_VERSION ? nowNs : next
}

/** The low bits that one writer's versions carry. */
export function versionTag(peerId: string): bigint {
  const [first = 0, second = 0] = sha256(new TextEncoder().encode(peerId))
  return BigInt((first << 8) | second) % TAG_STEP
}

export function nanoseconds(ms: number): bigint {
  return BigInt(Math.floor(ms * 1000)) * 1000n
}

/** True for a version further ahead of a time, Unix ms, than clocks may differ: entries with such versions are refused. */
export function isVersionAhead(version: bigint, nowMs: number): boolean {
  return version > BigInt(Math.ceil(nowMs + MAX_FUTURE_MS)) * 1_000_000n
}
