import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadFromFile } from './addon-files.ts'

const addon = { name: 'a.node', bytes: Buffer.from('an addon') }

function makePlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'mesh-place-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  return place
}

test('loads from a file that only this user can enter, and leaves nothing', () => {
  const place = makePlace()
  let loaded = ''
  const load = (file: string) => {
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    loaded = readFileSync(file, 'utf8')
  }
  loadFromFile(addon, load, [place])
  expect(loaded).toBe('an addon')
  expect(readdirSync(place)).toEqual([])
})

test('tries the next place where the first is missing, or does not let code run', () => {
  const [noexec, place] = [makePlace(), makePlace()]
  const loaded: string[] = []
  const load = (file: string) => {
    if (file.startsWith(noexec)) throw new Error('failed to map segment')
    loaded.push(file)
  }
  loadFromFile(addon, load, ['/nowhere', noexec, place])
  expect(loaded.map((file) => dirname(dirname(file)))).toEqual([place])
  expect(existsSync(loaded[0] ?? '')).toBe(false)
  expect(readdirSync(noexec)).toEqual([])
})

test('two addons of one name come from different files', () => {
  const place = makePlace()
  const files = new Set<string>()
  for (let at = 0; at < 2; at++) loadFromFile(addon, (file) => files.add(file), [place])
  expect(files.size).toBe(2)
})

test('says why the last place failed', () => {
  expect(() => loadFromFile(addon, () => {}, ['/nowhere'])).toThrow('ENOENT')
})
