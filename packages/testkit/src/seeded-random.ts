import type { Random } from '@mesh/core'

/** Mulberry32: the same seed gives the same draws. For tests and simulations only. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0
  const float = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { float, bytes: (length) => Uint8Array.from({ length }, () => Math.floor(float() * 256)) }
}
