import { createManualClock } from '@mesh/testkit'
import { expect, test, vi } from 'vitest'
import { startMemoryTrim } from './trim-memory.ts'

const MB = 2 ** 20

/** A process whose memory the test sets. */
function createProcess() {
  const clock = createManualClock()
  const memory = { heapTotal: 50 * MB, external: 10 * MB, garbage: 0, kept: 40 * MB }
  const collect = vi.fn(() => {
    memory.kept += memory.garbage
    memory.garbage = 0
  })
  const trim = vi.fn(() => (memory.kept = 40 * MB))
  const read = () => ({
    heapTotal: memory.heapTotal,
    external: memory.external + memory.garbage,
    rss: memory.heapTotal + memory.external + memory.garbage + memory.kept,
  })
  const loadTrim = vi.fn((): Promise<(() => unknown) | undefined> => Promise.resolve(trim))
  return { clock, memory, collect, trim, read, loadTrim }
}

test('what a flood left is collected and given back, and while nothing changes nothing is done', async () => {
  const { memory, ...components } = createProcess()
  const { clock, collect, trim, loadTrim } = components
  const stop = startMemoryTrim(components)
  await clock.advance(100_000)
  expect([collect, loadTrim].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  memory.garbage = 64 * MB
  await clock.advance(20_000)
  expect([collect, loadTrim, trim].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1])
  expect(components.read().rss).toBe(100 * MB)
  await clock.advance(100_000)
  expect([collect, loadTrim, trim].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1])
  memory.kept += 30 * MB
  await clock.advance(20_000)
  expect([collect, loadTrim, trim].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 2])
  stop()
  expect(clock.pending).toBe(0)
})

test('buffers that are in use are not collected again and again', async () => {
  const { memory, ...components } = createProcess()
  const stop = startMemoryTrim(components)
  await components.clock.advance(20_000)
  memory.external = 90 * MB
  await components.clock.advance(200_000)
  expect(components.collect).toHaveBeenCalledTimes(1)
  stop()
})

test('where the system has no such call a node goes on without', async () => {
  const { memory, ...components } = createProcess()
  components.loadTrim.mockResolvedValue(undefined)
  const stop = startMemoryTrim(components)
  await components.clock.advance(20_000)
  memory.kept = 200 * MB
  await components.clock.advance(200_000)
  expect(components.loadTrim).toHaveBeenCalledTimes(1)
  stop()
})

test('figures that cannot be had, as without a free descriptor, end nothing', async () => {
  const { memory, ...components } = createProcess()
  const read = vi.fn(components.read)
  const stop = startMemoryTrim({ ...components, read })
  read.mockImplementation(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory')
  })
  await components.clock.advance(60_000)
  read.mockImplementation(components.read)
  memory.garbage = 64 * MB
  await components.clock.advance(20_000)
  expect(components.collect).toHaveBeenCalledTimes(1)
  stop()
})
