/** Names and values that a member writes so that questions cost time and memory. */
import { randomBytes } from 'node:crypto'
import { systemClock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { tryParsePattern } from '@mesh/core/pattern'
import { expect, test } from 'vitest'
import { MAX_TRIED_CANDIDATES, MAX_UNREADABLE_VALUES } from '../src/limits.ts'
import { createPatternMatcher } from '../src/patterns/pattern-matcher.ts'
import { createPatternLibrary, createPatternSet } from '../src/patterns/pattern-set.ts'
import { MAX_PATTERN_STEPS, readPatternShape } from '@mesh/core/pattern'
import { encodeRecordData } from '../src/zone/record-data.ts'
import { createWorld } from './names-world.ts'

/** How long `work` took, in ms. */
function timed(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

test.each([
  [1, `\\# 1${' '.repeat(65_000)}x`],
  [1, `\\# 12345${' \t'.repeat(32_000)}g`],
  [16, `"${'\\"'.repeat(32_000)}`],
  [16, ' '.repeat(65_000)],
  [16, `${'a\\'.repeat(32_000)}`],
  [15, `${' '.repeat(65_000)}x`],
  [5, `${'a.'.repeat(32_000)}`],
])('a text of type %i is read in the time of its length', (type, text) => {
  expect(timed(() => encodeRecordData(type, text))).toBeLessThan(500)
})

test.each([
  ['ranges', '[B-\u{1e942}]'.repeat(5)],
  ['ranges by number', `(?:${'[\\x{42}-\\x{1e942}]'.repeat(50)})`],
  ['ranges in one class', '[B-\u{1e942}C-\u{1e942}D-\u{1e942}]'],
  ['ranges beside what is not understood', '\\Qa\\E[B-\u{1e942}C-\u{1e942}D-\u{1e942}]'],
  ['categories', '\\pL'.repeat(300)],
  ['categories in one class', `[${'\\pL'.repeat(300)}]`],
])('%s count for what they cost to compile', (_what, source) => {
  expect(readPatternShape(source).steps).toBeGreaterThan(MAX_PATTERN_STEPS)
})

test('a usual pattern with classes, categories and a word in it is not too complex', () => {
  for (const source of [
    '^[\\w-]{1,63}\\.[a-z0-9-]+\\.lab\\.$',
    '^\\pL+\\.mesh\\.$',
    '^[^\\x00-\\x20]+\\.x\\.$',
  ])
    expect(readPatternShape(source).steps).toBeLessThan(MAX_PATTERN_STEPS)
})

test('patterns keep no states of the names that they were held against', () => {
  const heapBefore = process.memoryUsage().heapUsed
  const patterns = Array.from({ length: 30 }, (_, at) =>
    tryParsePattern(`[0-7].{80}z${at}`, { ignoreCase: true }),
  )
  for (let at = 0; at < 20; at++) {
    const name = `${randomBytes(120).toString('hex')}.test.`
    for (const pattern of patterns) expect(pattern?.test(name)).toBe(false)
  }
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(50 * 1024 * 1024)
})

test('names that thousands of patterns match are remembered up to a bound, and share the time of a turn', async () => {
  const sources = Array.from({ length: 5_000 }, (_, at) => `z?${at.toString(36).split('').join('?')}?`)
  const entries = sources.map((source) => ({ source, owner: '', records: new Map<number, string>() }))
  const set = createPatternSet(entries, createPatternLibrary())
  const matcher = createPatternMatcher(set, loopBudget(systemClock))
  const names = Array.from({ length: 1_000 }, (_, at) => `n${at}.`)
  // one turn: a thousand questions get no more time than one
  expect(timed(() => names.forEach((name) => matcher.find(name)))).toBeLessThan(1_000)
  expect(MAX_TRIED_CANDIDATES).toBeGreaterThan(5_000)
})

test('values that nobody can read do not hide the one that can be, and of many only some are tried', async () => {
  const recordsAfter = async (unreadable: number) => {
    const { ledger, dns } = createWorld()
    for (let at = 0; at < unreadable; at++)
      ledger.put('dns', `^x{1,${at + 2}}\\.test\\.?$`, { 1: 'no address' })
    ledger.put('dns', '^x', { 1: '10.1.0.5' })
    return (await dns.explain('x.test', 1)).records
  }
  expect(await recordsAfter(MAX_UNREADABLE_VALUES - 1)).toMatchObject([{ text: '10.1.0.5' }])
  expect(await recordsAfter(2 * MAX_UNREADABLE_VALUES)).toEqual([])
})
