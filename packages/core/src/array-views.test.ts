import { expect, test } from 'vitest'
import { copyOf, isSmallPart } from './array-views.ts'

test('a copy is in memory of its own, of a Buffer too', () => {
  const part = Buffer.from(new ArrayBuffer(64 * 1_024)).subarray(0, 2_000)
  expect(isSmallPart(part)).toBe(true)
  const copy = copyOf(part)
  expect([copy.buffer.byteLength, isSmallPart(copy)]).toEqual([2_000, false])
})
