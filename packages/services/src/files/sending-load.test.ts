import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@mesh/core'
import { expect, onTestFinished, test } from 'vitest'
import { BLOCKS_PER_CALL, FEW_BLOCKS_PER_CALL, FEW_RECEIVERS } from './limits.ts'
import { SendingLoad } from './sending-load.ts'

function shareFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-load-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'one'), 'one')
  return folder
}

test('a share is listed once for all who ask meanwhile, and kept once where nothing changed', async () => {
  const folder = shareFolder()
  const load = new SendingLoad({ clock: systemClock, receivers: () => 1 })
  const first = await load.list(folder)
  const [second, third] = await Promise.all([load.list(folder), load.list(folder)])
  expect([second === first, third === first]).toEqual([true, true])
  writeFileSync(join(folder, 'two'), 'two')
  const changed = await load.list(folder)
  expect(changed.entries.map(({ path }) => path)).toEqual(['one', 'two'])
})

test('what is added while a list is being made stands in that of those who ask then', async () => {
  const folder = shareFolder()
  const load = new SendingLoad({ clock: systemClock, receivers: () => 1 })
  const running = load.list(folder)
  // it has begun
  await Promise.resolve()
  writeFileSync(join(folder, 'two'), 'two')
  const next = await load.list(folder)
  expect(next.entries).toHaveLength(2)
  await running
})

test('a share that cannot be listed fails for those who asked, and is listed anew for the next', async () => {
  const folder = shareFolder()
  const path = join(folder, 'later')
  const load = new SendingLoad({ clock: systemClock, receivers: () => 1 })
  const failed = await Promise.allSettled([load.list(path), load.list(path)])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  writeFileSync(path, 'there')
  expect((await load.list(path)).entries).toHaveLength(1)
})

test('many receivers have little read ahead for each', () => {
  let receivers = FEW_RECEIVERS
  const load = new SendingLoad({ clock: systemClock, receivers: () => receivers })
  expect(load.blocksPerCall).toBe(BLOCKS_PER_CALL)
  receivers++
  expect(load.blocksPerCall).toBe(FEW_BLOCKS_PER_CALL)
})
