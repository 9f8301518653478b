import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRepublications } from '../legacy/republications.ts'
import { overlapOf, planRotation } from './rotation.ts'

const INTERVAL = 360_000
const BOUNDARY = 1000 * INTERVAL
const at = (afterBoundaryMs: number) => {
  const { current, subscribed, published } = planRotation(BOUNDARY + afterBoundaryMs, INTERVAL)
  return { current, subscribed, published }
}

describe('around a boundary', () => {
  test.each([
    [-3001, { current: 999, subscribed: [999], published: [999] }],
    [-3000, { current: 999, subscribed: [999, 1000], published: [999] }],
    [-1, { current: 999, subscribed: [999, 1000], published: [999] }],
    [0, { current: 1000, subscribed: [1000, 999], published: [1000, 999] }],
    [4999, { current: 1000, subscribed: [1000, 999], published: [1000, 999] }],
    [5000, { current: 1000, subscribed: [1000], published: [1000] }],
  ])('%i ms from it', (ms, plan) => expect(at(ms)).toEqual(plan))
})

test('the plan says when it changes, and nothing changes before', () => {
  const state = (now: number, interval: number) => {
    const { changesAtMs: _, ...plan } = planRotation(now, interval)
    return JSON.stringify(plan)
  }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9000 }), fc.nat(2 ** 41), fc.nat(1000), (seconds, now, part) => {
      const interval = seconds * 1000
      const { changesAtMs } = planRotation(now, interval)
      expect(changesAtMs).toBeGreaterThan(now)
      const between = now + ((changesAtMs - 0.001 - now) * part) / 1000
      expect(state(between, interval)).toBe(state(now, interval))
      expect(state(changesAtMs, interval)).not.toBe(state(now, interval))
    }),
  )
})

test('two members whose clocks differ by less than the overlap always share a topic', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 9000 }), fc.nat(2 ** 41), fc.nat(999), (seconds, now, skew) => {
      const interval = seconds * 1000
      const { leadMs, lingerMs } = overlapOf(interval)
      const ahead = now + (Math.min(leadMs, lingerMs) * skew) / 1000
      const early = planRotation(now, interval)
      const late = planRotation(ahead, interval)
      // what either publishes, the other is subscribed to
      expect(late.subscribed.some((window) => early.published.includes(window))).toBe(true)
      expect(early.subscribed.some((window) => late.published.includes(window))).toBe(true)
    }),
  )
})

test('even windows of five seconds never need more than two topics', () => {
  for (let now = 0; now < 20_000; now += 10) {
    expect(planRotation(now, 5000).subscribed.length).toBeLessThanOrEqual(2)
  }
})

describe('publications around a boundary', () => {
  const publish = (...offsets: number[]) => {
    const publications = createRepublications(INTERVAL, overlapOf(INTERVAL).republish)
    publications.takeDue(BOUNDARY - 10_000)
    for (const offset of offsets) {
      const plaintext = Uint8Array.of(1)
      publications.note({ plaintext, nonce: plaintext, atMs: BOUNDARY + offset })
    }
    return publications
  }
  const offsets = (due: readonly { readonly atMs: number }[]) => due.map(({ atMs }) => atMs - BOUNDARY)

  test('are due once, two seconds after it, and others are not', () => {
    const publications = publish(-5000, -1501, -1500, -1, 0, 1999, 2000, 9000)
    expect(publications.takeDue(BOUNDARY + 1999)).toEqual([])
    expect(offsets(publications.takeDue(BOUNDARY + 2000))).toEqual([-1500, -1, 0, 1999])
    expect(publications.takeDue(BOUNDARY + 2001)).toEqual([])
    expect(publications.takeDue(BOUNDARY + INTERVAL + 3000)).toEqual([])
  })

  test('are not due in the window in which this node started', () => {
    const publications = createRepublications(INTERVAL, overlapOf(INTERVAL).republish)
    expect(publications.takeDue(BOUNDARY + 1000)).toEqual([])
    expect(publications.takeDue(BOUNDARY + 5000)).toEqual([])
  })

  test('are bounded in number and in bytes', () => {
    const many = publish(...Array.from({ length: 1000 }, (_, index) => index))
    expect(many.takeDue(BOUNDARY + 3000)).toHaveLength(256)
    const big = createRepublications(INTERVAL, overlapOf(INTERVAL).republish)
    big.takeDue(BOUNDARY - 10_000)
    for (let index = 0; index < 10; index++) {
      big.note({ plaintext: new Uint8Array(1024 * 1024), nonce: new Uint8Array(12), atMs: BOUNDARY + index })
    }
    expect(offsets(big.takeDue(BOUNDARY + 3000))).toEqual([6, 7, 8, 9])
  })
})
