import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { HashedPaths } from './hashed-paths.ts'
import { ManifestCheck } from './manifest.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('each of many paths is added once, and those that were not are not there', () => {
  const paths = new HashedPaths()
  const names = Array.from({ length: 20_000 }, (_, at) => `folder ${at % 70}/${at}`)
  expect(names.filter((name) => paths.add(name))).toHaveLength(names.length)
  expect(names.filter((name) => paths.add(name))).toEqual([])
  expect(names.filter((name) => !paths.has(name))).toEqual([])
  expect(names.filter((name) => paths.has(`${name}x`))).toEqual([])
})

test('a list of folders is looked at without holding their paths a second time', () => {
  const check = new ManifestCheck({ name: 'share', isFolder: true })
  collectGarbage()
  const before = process.memoryUsage()
  const rest = { isFolder: true, size: 0, modifiedMs: 0, isExecutable: false }
  for (let at = 0; at < 100_000; at++)
    expect(check.add({ ...rest, path: `${at}`.padStart(150, 'X') })).toBe(undefined)
  collectGarbage()
  const after = process.memoryUsage()
  expect(after.heapUsed - before.heapUsed).toBeLessThan(4 * 2 ** 20)
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * 2 ** 20)
  expect(check.end()).toBe(undefined)
})
