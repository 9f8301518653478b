import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { saveHeapWhileLarge } from './save-heap.ts'

const MB = 2 ** 20

function start() {
  const clock = createManualClock()
  const heap = { mb: 50, saving: [] as boolean[] }
  const stop = saveHeapWhileLarge({
    clock,
    heapBytes: () => heap.mb * MB,
    save: (isOn) => heap.saving.push(isOn),
  })
  const become = async (mb: number, ms = 1_000) => {
    heap.mb = mb
    await clock.advance(ms)
  }
  return { heap, stop, become }
}

test('memory is saved while the heap is much larger than it was', async () => {
  const { heap, stop, become } = start()
  await become(60)
  expect(heap.saving).toEqual([])
  await become(90)
  expect(heap.saving).toEqual([true])
  await become(60)
  expect(heap.saving).toEqual([true])
  await become(55)
  expect(heap.saving).toEqual([true, false])
  stop()
  await become(90)
  expect(heap.saving).toEqual([true, false])
})

test('what stays is what the heap has from then on, until it is less', async () => {
  const { heap, stop, become } = start()
  await become(90, 60_000)
  expect(heap.saving).toEqual([true, false])
  await become(100, 60_000)
  expect(heap.saving).toEqual([true, false])
  await become(40)
  await become(60)
  expect(heap.saving).toEqual([true, false, true])
  stop()
  expect(heap.saving).toEqual([true, false, true, false])
})

test('V8 knows the flags, and takes them while it runs', async () => {
  const script = `
    import { ownHeap } from ${JSON.stringify(new URL('save-heap.ts', import.meta.url).href)}
    ownHeap.save(true)
    ownHeap.save(false)
    console.log(ownHeap.heapBytes() > 0)
  `
  const args = ['--input-type=module', '--eval', script]
  // V8 names flags that it does not know there
  expect(await promisify(execFile)(process.execPath, args)).toEqual({ stdout: 'true\n', stderr: '' })
})
