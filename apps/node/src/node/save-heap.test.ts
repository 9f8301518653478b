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

/** Makes 300,000 objects and drops them, fifteen times; tells how many MB it then has beside its heap. */
const script = (save: string) => `
  import { trimAfterStart } from ${JSON.stringify(new URL('trim-process.ts', import.meta.url).href)}
  import { ownHeap } from ${JSON.stringify(new URL('save-heap.ts', import.meta.url).href)}
  trimAfterStart()
  ${save}
  const besideHeapMb = () => (process.memoryUsage().rss - process.memoryUsage().heapTotal) / 2 ** 20
  const startMb = besideHeapMb()
  const objects = []
  for (let cycle = 0; cycle < 15; cycle++) {
    for (let at = 0; at < 300_000; at++) objects[at] = { at, texts: ['x' + at + cycle] }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  objects.length = 0
  globalThis.gc()
  console.log(besideHeapMb() - startMb)
`

async function besideHeapMb(save: string): Promise<number> {
  const args = ['--expose-gc', '--input-type=module', '--eval', script(save)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

test('a process that saves memory gives back what its collector frees', async () => {
  const withoutMb = await besideHeapMb('')
  expect(await besideHeapMb('ownHeap.save(true)')).toBeLessThan(0.85 * withoutMb)
}, 60_000)
