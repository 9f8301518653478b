import { loopBudget } from '@mesh/core/limits'
import { createManualClock } from '@mesh/testkit'
import { expect, test, vi } from 'vitest'
import { PacedReads } from './paced-reads.ts'

/** Reads, and what tells that this turn has no time left. */
function createReads() {
  const clock = createManualClock()
  const got: (number | undefined)[] = []
  let isLate = false
  const source = { pause: vi.fn(), resume: vi.fn() }
  const reads = new PacedReads({
    budget: {
      isTimeLeft: () => !isLate,
      later: (lane, work, key) => loopBudget(clock).later(lane, work, key),
    },
    key: '192.0.2.1',
    source,
    onBytes: (bytes) => void got.push(bytes[0]),
  })
  return { clock, got, reads, source, late: (is: boolean) => void (isLate = is) }
}

const block = (n: number) => Uint8Array.of(n)

test('hands blocks over at once while there is time', () => {
  const { got, reads, source } = createReads()
  for (const n of [1, 2]) reads.take(block(n))
  expect(got).toEqual([1, 2])
  expect(source.pause).not.toHaveBeenCalled()
})

test('pauses the source when time is over, and goes on in later turns in the order of the blocks', async () => {
  const { clock, got, reads, source, late } = createReads()
  late(true)
  for (const n of [1, 2, 3]) reads.take(block(n))
  expect(got).toEqual([])
  expect(source.pause).toHaveBeenCalled()
  await clock.advance(1)
  expect(got).toEqual([1, 2, 3])
  expect(source.resume).toHaveBeenCalledOnce()
})

test('hands nothing over while its reader pauses', async () => {
  const { clock, got, reads, source, late } = createReads()
  late(true)
  reads.take(block(1))
  reads.pause()
  late(false)
  await clock.advance(1)
  reads.take(block(2))
  expect(got).toEqual([])
  reads.resume()
  await clock.advance(1)
  expect(got).toEqual([1, 2])
  expect(source.resume).toHaveBeenCalledOnce()
})

test('hands over what waits when the source ends', () => {
  const { got, reads, late } = createReads()
  late(true)
  reads.take(block(1))
  reads.end()
  expect(got).toEqual([1])
})
