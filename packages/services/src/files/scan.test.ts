import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NOTHING_LEFT_OUT } from './left-out.ts'
import { STATS_AT_A_TIME } from './limits.ts'
import { ManifestCheck } from './manifest.ts'
import { requireReadable, scanShare } from './scan.ts'

test('of many files in one folder each is looked at once, a few in a turn of the event loop, and listed by their names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-scan-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const names = Array.from({ length: 6 * STATS_AT_A_TIME }, (_, at) => `file ${at}`)
  await Promise.all(names.map((name) => writeFile(join(folder, name), '')))
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  const looks = new Map<number, number>()
  const add = ManifestCheck.prototype.add
  const spy = vi.spyOn(ManifestCheck.prototype, 'add').mockImplementation(function (
    this: ManifestCheck,
    entry,
  ) {
    looks.set(turn, (looks.get(turn) ?? 0) + 1)
    return add.call(this, entry)
  })
  onTestFinished(() => spy.mockRestore())
  const { signal } = new AbortController()
  setImmediate(count)
  const { entries } = await scanShare(folder, signal)
  isOver = true
  expect(entries.map(({ path }) => path)).toEqual(names.toSorted())
  const all = [...looks.values()]
  expect(all.reduce((sum, count) => sum + count, 0)).toBe(names.length)
  expect(Math.max(...all)).toBeLessThanOrEqual(2 * STATS_AT_A_TIME)
})

test('whether the files of a long list may be read is asked a few in a turn of the event loop', async () => {
  const looks = new Map<number, number>()
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  const entries = Array.from({ length: 6 * STATS_AT_A_TIME }, (_, at) => ({
    get path() {
      looks.set(turn, (looks.get(turn) ?? 0) + 1)
      return `gone ${at}`
    },
    isFolder: false,
    size: 0,
    modifiedMs: 0,
    isExecutable: false,
  }))
  setImmediate(count)
  const scan = {
    root: join(tmpdir(), 'mesh-no-such-folder'),
    name: 'x',
    isFolder: true,
    entries,
    leftOut: NOTHING_LEFT_OUT,
  }
  await requireReadable(scan, new AbortController().signal)
  isOver = true
  const all = [...looks.values()]
  expect(all.reduce((sum, some) => sum + some, 0)).toBe(entries.length)
  expect(Math.max(...all)).toBeLessThanOrEqual(2 * STATS_AT_A_TIME)
})
