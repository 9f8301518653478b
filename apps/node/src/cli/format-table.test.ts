import { expect, test } from 'vitest'
import { formatTable } from './format-table.ts'

test('names that differ by spaces alone look different in a table', () => {
  expect(
    formatTable(
      ['NAME', 'ID'],
      [
        ['nas', '1'],
        ['nas ', '2'],
        ['a  b', '3'],
      ],
    ),
  ).toBe('NAME       ID\nnas        1\nnas\\u0020  2\na\\u0020 b  3\n')
})
