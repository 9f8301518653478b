import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import v8 from 'node:v8'
import { createManualClock } from '@mesh/testkit'
import { expect, test, vi } from 'vitest'
import { ownMemory, startMemoryTrim } from './memory.ts'

const MB = 2 ** 20

/** A process whose memory the test sets. */
function createProcess() {
  const memory = { used: 60 * MB, garbage: 0, kept: 40 * MB }
  const collect = vi.fn(() => {
    memory.kept += memory.garbage
    memory.garbage = 0
    return Promise.resolve()
  })
  const trim = vi.fn(() => Promise.resolve(void (memory.kept = 40 * MB)))
  const residentBytes = vi.fn(() => memory.used + memory.garbage + memory.kept)
  return { clock: createManualClock(), memory, collect, trim, residentBytes }
}

test('the node gives back what a flood left, and does nothing while nothing changes', async () => {
  const { memory, ...components } = createProcess()
  const { clock, collect, trim } = components
  const stop = startMemoryTrim(components)
  await clock.advance(100_000)
  expect(collect).not.toHaveBeenCalled()
  memory.garbage = 64 * MB
  await clock.advance(20_000)
  expect([collect, trim].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  expect(components.residentBytes()).toBe(100 * MB)
  await clock.advance(100_000)
  expect(collect).toHaveBeenCalledTimes(1)
  stop()
  expect(clock.pending).toBe(0)
})

test('memory in use is not collected again and again, with or without the addon', async () => {
  const { memory, ...components } = createProcess()
  components.trim.mockRejectedValue(new Error('no addon'))
  const stop = startMemoryTrim(components)
  memory.used = 200 * MB
  await components.clock.advance(600_000)
  expect(components.collect).toHaveBeenCalledTimes(6)
  stop()
})

test('what a flood held while it was collected is collected when it has ended', async () => {
  const { memory, ...components } = createProcess()
  const stop = startMemoryTrim(components)
  memory.used = 160 * MB
  await components.clock.advance(60_000)
  ;[memory.used, memory.garbage] = [60 * MB, 100 * MB]
  await components.clock.advance(20_000)
  expect(components.residentBytes()).toBe(100 * MB)
  stop()
})

test('figures that the system does not give end nothing', async () => {
  const { memory, ...components } = createProcess()
  const stop = startMemoryTrim(components)
  components.residentBytes.mockImplementationOnce(() => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory')
  })
  await components.clock.advance(20_000)
  memory.garbage = 64 * MB
  await components.clock.advance(20_000)
  expect(components.collect).toHaveBeenCalledTimes(1)
  stop()
})

test('a collection takes what nobody holds, and the event loop goes on', async () => {
  const references = Array.from({ length: 10 }, () => new WeakRef({}))
  await new Promise((resolve) => setImmediate(resolve))
  // other tests may have left a larger heap in this process
  const statistics = { ...v8.getHeapStatistics(), used_heap_size: 0 }
  vi.spyOn(v8, 'getHeapStatistics').mockReturnValue(statistics)
  await ownMemory.collect()
  expect(references.filter((each) => each.deref() !== undefined)).toEqual([])
  const server = createServer((_req, res) => res.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
  server.close()
})
