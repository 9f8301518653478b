import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Makes 300,000 objects and drops them, twelve times; tells how many MB it then has beside its heap. */
const script = (undo: string) => `
  import v8 from 'node:v8'
  import { trimAfterStart } from ${JSON.stringify(new URL('trim-process.ts', import.meta.url).href)}
  trimAfterStart()
  ${undo}
  const besideHeapMb = () => (process.memoryUsage().rss - process.memoryUsage().heapTotal) / 2 ** 20
  const startMb = besideHeapMb()
  const objects = []
  for (let cycle = 0; cycle < 12; cycle++) {
    for (let at = 0; at < 300_000; at++) objects[at] = { at, texts: ['x' + at + cycle] }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  objects.length = 0
  globalThis.gc()
  console.log(besideHeapMb() - startMb)
`

async function besideHeapMb(undo = ''): Promise<number> {
  const args = ['--expose-gc', '--input-type=module', '--eval', script(undo)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

test('what the collector frees goes back to the system, and does not wait for the next objects', async () => {
  const withoutMb = await besideHeapMb("v8.setFlagsFromString('--no-memory-saver-mode')")
  expect(withoutMb).toBeGreaterThan(40)
  expect(await besideHeapMb()).toBeLessThan(0.85 * withoutMb)
}, 60_000)
