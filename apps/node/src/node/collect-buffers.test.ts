import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { collectBuffersWhileMany, ownBuffers } from './collect-buffers.ts'

const MB = 2 ** 20

test('while many buffers are there the heap is collected more often, until few are', async () => {
  const clock = createManualClock()
  const seen = { mb: 40, often: [] as boolean[] }
  const stop = collectBuffersWhileMany({
    clock,
    bufferBytes: () => seen.mb * MB,
    collectOften: (isOn) => seen.often.push(isOn),
  })
  const become = async (mb: number) => {
    seen.mb = mb
    await clock.advance(1_000)
  }
  await become(47)
  expect(seen.often).toEqual([])
  await become(60)
  await become(30)
  expect(seen.often).toEqual([true])
  await become(20)
  expect(seen.often).toEqual([true, false])
  await become(60)
  stop()
  expect(seen.often).toEqual([true, false, true, false])
  await become(60)
  expect(seen.often).toHaveLength(4)
})

test('buffers of this process count, and V8 takes the flag', () => {
  const before = ownBuffers.bufferBytes()
  const buffer = new Uint8Array(32 * MB)
  expect(ownBuffers.bufferBytes() - before).toBeGreaterThanOrEqual(buffer.length)
  expect(() => ownBuffers.collectOften(false)).not.toThrow()
})
