import { expect, test } from 'vitest'
import { NAMES_SORTED_AT_A_TIME } from './limits.ts'
import { sortInTurns } from './sort-in-turns.ts'

test('many names are sorted as at once, and other work comes in between', async () => {
  const runs = 5
  // 7919 is prime, so that each number comes once and far from its neighbours
  const many = runs * NAMES_SORTED_AT_A_TIME - 1
  const names = Array.from({ length: many }, (_, at) => `file ${(at * 7919) % many}`)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const sorted = await sortInTurns(names)
  isOver = true
  expect(sorted).toEqual(names.toSorted())
  // the runs, and each of three rounds of merging
  expect(turns).toBeGreaterThanOrEqual(4 * (runs - 1))
})

test.each([[[]], [['b']], [['b', 'a', '\u{1F600}', '\uFFFD', 'a']]])(
  'few names are sorted, too: %j',
  async (names: string[]) => {
    expect(await sortInTurns(names)).toEqual(names.toSorted())
  },
)
