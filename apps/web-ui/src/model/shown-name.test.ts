// @vitest-environment node
import { expect, test } from 'vitest'
import { shownName, shownText } from './shown-name.ts'

test('of a long name and a long text the beginning is shown, in whole characters', () => {
  expect(shownName('W'.repeat(60_000))).toBe(`${'W'.repeat(100)}…`)
  expect(shownName(`${'W'.repeat(99)}\u{1f600}`)).toBe(`${'W'.repeat(99)}…`)
  expect(shownText('W'.repeat(60_000))).toBe(`${'W'.repeat(1_000)}…`)
})

test('lines of a text stay, and what is invisible in it is an escape', () => {
  expect(shownText('a\u202eb\nc')).toBe('a\\u202eb\nc')
  expect(shownName('a\u202eb\nc')).toBe('a\\u202eb\\u000ac')
})
