// @vitest-environment node
import { expect, test } from 'vitest'
import { diffLines, foldLines } from './text-diff.ts'

const SIGNS = { same: ' ', gone: '-', new: '+', fold: '~' }
const shown = (before: string | undefined, after: string | undefined) =>
  diffLines(before, after).map(({ kind, text }) => `${SIGNS[kind]}${text}`)

test('lines are kept, gone or new, in the order of both texts', () => {
  expect(shown('{\n  a\n  b\n}', '{\n  a\n  c\n  d\n}')).toEqual([' {', '   a', '-  b', '+  c', '+  d', ' }'])
  expect(shown('a\nx\nb\ny\nc', 'a\nb\nz\nc')).toEqual([' a', '-x', ' b', '-y', '+z', ' c'])
})

test('a first value is new as a whole, and a deleted one is gone as a whole', () => {
  expect(shown(undefined, 'a\nb')).toEqual(['+a', '+b'])
  expect(shown('a', undefined)).toEqual(['-a'])
  expect(shown('a', 'a')).toEqual([' a'])
  expect(shown('', 'a')).toEqual(['-', '+a'])
})

test('a line that stands several times is not kept more often than both have it', () => {
  expect(shown('a\na', 'a\na\na')).toEqual([' a', ' a', '+a'])
  expect(shown('a\nb\na', 'a')).toEqual([' a', '-b', '-a'])
})

test('two long texts without anything in common are shown as replaced, at once', () => {
  const many = (letter: string) => Array.from({ length: 20_000 }, (_, n) => `${letter}${n}`).join('\n')
  const lines = diffLines(many('a'), many('b'))
  expect(lines.length).toBe(40_000)
  expect(lines[0]).toEqual({ kind: 'gone', text: 'a0' })
})

test('long runs of the same lines are folded, with two lines around each change', () => {
  const before = Array.from({ length: 20 }, (_, n) => String(n))
  const after = before.with(10, 'changed')
  const folded = foldLines(diffLines(before.join('\n'), after.join('\n')))
  expect(folded.map((line) => (line.kind === 'fold' ? line.count : line.text))).toEqual([
    8,
    '8',
    '9',
    '10',
    'changed',
    '11',
    '12',
    7,
  ])
})
