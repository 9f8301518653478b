import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable, printableName } from './printable.ts'

test.each([
  ['a\tb\r\n\u0000', 'a\\u0009b\\u000d\\u000a\\u0000'],
  ['\u007F\u009B2J', '\\u007f\\u009b2J'],
  ['\u200B\u200C\u200D\u200E\u200F', '\\u200b\\u200c\\u200d\\u200e\\u200f'],
  ['\u2028\u2029\u202A\u202E', '\\u2028\\u2029\\u202a\\u202e'],
  ['\u2060\u2061\u2064\u2066\u2069', '\\u2060\\u2061\\u2064\\u2066\\u2069'],
  ['\uFEFFa\u00ADb\u180E\u061C', '\\ufeffa\\u00adb\\u180e\\u061c'],
  ['\u034F\u115F\u1160\u3164\uFFA0\uFE0F', '\\u034f\\u115f\\u1160\\u3164\\uffa0\\ufe0f'],
  ['\u{E0001}\u{E0041}\u{E007F}\u{E0100}', '\\udb40\\udc01\\udb40\\udc41\\udb40\\udc7f\\udb40\\udd00'],
  ['\uD800', '\\ud800'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('what is seen stays, letters, marks and emoji of all scripts', () => {
  for (const text of ['nas-1', 'Küche é', 'файлы', '日本語 ラ', 'مرحبا', '😀👩🏽', 'a\u0301', 'x\\u202ey'])
    expect(printable(text)).toBe(text)
})

test('JSON that is made printable is the same value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(printable(JSON.stringify({ [text]: text })))).toEqual({ [text]: text })
    }),
  )
})

test.each([
  ['nas', 'nas'],
  ['my nas 2', 'my nas 2'],
  ['nas ', 'nas\\u0020'],
  [' nas', '\\u0020nas'],
  ['my  nas', 'my\\u0020 nas'],
  ['my\u00a0nas\u200b', 'my\\u00a0nas\\u200b'],
])('the name %j is shown as %j', (name, shown) => {
  expect(printableName(name)).toBe(shown)
})
