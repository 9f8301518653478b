// @vitest-environment node
import { expect, test } from 'vitest'
import { parseSearchText, printSearchText, validateLedgerSearch } from './search-params.ts'

test('search parameters are plain text both ways', () => {
  const search = { bucket: 'dns', key: '^git\\.lab\\.$', q: '10' }
  expect(parseSearchText(printSearchText(search))).toEqual(search)
  expect(printSearchText({ q: '' })).toBe('')
  expect(printSearchText({ bucket: 'a b/c' })).toBe('?bucket=a+b%2Fc')
})

test('what the ledger does not know in an address is left out', () => {
  expect(validateLedgerSearch({ bucket: 'x', key: '', view: 'evil', other: '1' })).toEqual({ bucket: 'x' })
  expect(validateLedgerSearch({ view: 'new' })).toEqual({ view: 'new' })
})
