import { expect, test } from 'vitest'
import { byFigure } from './use-sort.ts'

test('rows without a figure count as less than all others', () => {
  const rows = [3, Number.NaN, 0, null, 1].map((figure) => ({ figure }))
  const sorted = rows.toSorted(byFigure(({ figure }) => figure))
  expect(sorted.slice(-3).map(({ figure }) => figure)).toEqual([0, 1, 3])
})
