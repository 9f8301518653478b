// @vitest-environment node
import { ApiError } from '@mesh/api-client'
import { expect, test } from 'vitest'
import type { TrackedWrite, WriteState } from '../../model/tracked-write.ts'
import { buildKeyRows, filterKeyRows } from './key-rows.ts'

const write = (key: string, outcome: WriteState): TrackedWrite => ({
  request: { action: 'put', bucket: 'notes', key, value: 1 },
  at: 0,
  outcome,
})

test('a key that is on its way stands in its place, also when it is refused', () => {
  const refused = { state: 'refused', error: new ApiError('ledger.not_owner', 'no') } as const
  const rows = buildKeyRows({ c: 1, a: 2 }, [write('b', { state: 'announcing' }), write('d', refused)])
  expect(rows.map(({ key, value }) => [key, value])).toEqual([
    ['a', { value: 2 }],
    ['b', undefined],
    ['c', { value: 1 }],
    ['d', undefined],
  ])
})

test('a key that was committed and deleted since is not there', () => {
  expect(buildKeyRows({}, [write('a', { state: 'committed', block: 3 })])).toEqual([])
})

test('a key like a property of objects is a key like any other', () => {
  const bucket: Record<string, unknown> = Object.create(null)
  bucket['__proto__'] = 'x'
  expect(buildKeyRows(bucket, []).map(({ key }) => key)).toEqual(['__proto__'])
})

test('the filter looks at keys and values', () => {
  const rows = buildKeyRows({ alpha: 'One', beta: { n: 'two' } }, [])
  const found = (filter: string) => filterKeyRows(rows, filter).map(({ key }) => key)
  expect([found('ALPHA'), found('one'), found('two'), found('x')]).toEqual([
    ['alpha'],
    ['alpha'],
    ['beta'],
    [],
  ])
})
