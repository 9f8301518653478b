import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_VERSION } from '../limits.ts'
import { taggedVersionAfter, versionAfter, versionTag } from './version.ts'

const u64 = fc.bigInt({ min: 0n, max: MAX_VERSION - 4096n })

test('a tagged version is the first one from there on that carries the tag', () => {
  fc.assert(
    fc.property(u64, u64, fc.bigInt({ min: 0n, max: 4095n }), (previous, now, tag) => {
      const least = versionAfter(previous, now)
      const version = taggedVersionAfter(previous, now, tag)
      expect(version & 4095n).toBe(tag)
      expect(version - least).toBeGreaterThanOrEqual(0n)
      expect(version - least).toBeLessThan(4096n)
    }),
  )
})

test('after the greatest version comes the time, which everyone refuses as older', () => {
  expect(taggedVersionAfter(MAX_VERSION, 1_786_540_000_000_000_000n, 0n)).toBeLessThan(MAX_VERSION)
  expect(taggedVersionAfter(MAX_VERSION - 1n, 5n, 0n)).toBe(5n)
})

test('tags are of twelve bits and differ between writers', () => {
  const tags = Array.from({ length: 100 }, (_, n) => versionTag(`peer ${n}`))
  expect(tags.every((tag) => tag >= 0n && tag < 4096n)).toBe(true)
  expect(new Set(tags).size).toBeGreaterThan(90)
})
