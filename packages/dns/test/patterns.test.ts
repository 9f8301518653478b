/** Patterns against a naive twin, which compiles each and tries it: hints and indexes may never change an answer. */
import { tryParsePattern } from '@mesh/core/pattern'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { createPatternLibrary, createPatternSet } from '../src/patterns/pattern-set.ts'
import { MAX_PATTERN_STEPS, readPatternShape } from '@mesh/core/pattern'
import { createWorld } from './names-world.ts'

const letters = fc.constantFrom('a', 'b', 'A', 'foo', 'bar', 'mesh', '-', '1', '0', 'é', 'K')
const atom = fc.oneof(
  letters,
  fc.constantFrom(
    '\\.',
    '.',
    '\\d',
    '\\w',
    '[a-c]',
    '[^b]',
    '[.]',
    '[\\]x]',
    '[]a]',
    '[[:alpha:]]',
    '\\-',
    '\\b',
    '\\pL',
  ),
  fc.constantFrom(
    '^',
    '$',
    '\\A',
    '\\z',
    '{',
    '}',
    ']',
    '\\x41',
    '\\Qa.b\\E',
    '(?i)',
    '(?-i)',
    '(?m)',
    '\\101',
  ),
)
const quantifier = fc.constantFrom('', '', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '+?', '{,2}', '{0}')
const { pattern } = fc.letrec<{ pattern: string; sequence: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?P<n>', '(?i:'), tie('pattern'), fc.constant(')'), quantifier)
      .map((parts) => parts.join('')),
  ),
  sequence: fc.array(tie('piece'), { maxLength: 5 }).map((pieces) => pieces.join('')),
  pattern: fc
    .tuple(
      fc.constantFrom('', '^'),
      fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }),
      fc.constantFrom('', '$', '\\.$'),
    )
    .map(([begin, parts, end]) => begin + parts.join('|') + end),
}))
const name = fc
  .array(fc.constantFrom('a', 'b', 'foo', 'bar', 'mesh', '-', '1', '0', '.', 'a.b', 'x'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => `${parts.join('')}.`)

function matchesNaively(source: string, text: string): boolean {
  return tryParsePattern(source, { ignoreCase: true })?.test(text) === true
}

test('what is tried of a set is all that matches', () => {
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { minLength: 1, maxLength: 12 }), name, (sources, text) => {
      const entries = sources.map((source) => ({ source, owner: '', records: new Map<number, string>() }))
      const set = createPatternSet(entries, createPatternLibrary())
      const matched = set
        .candidates(text)
        .filter((candidate) => candidate.pattern.matches(text))
        .map(({ entry }) => entry.source)
      const usable = sources.filter((source) => readPatternShape(source).steps <= MAX_PATTERN_STEPS)
      expect(matched.toSorted()).toEqual(usable.filter((source) => matchesNaively(source, text)).toSorted())
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['^foo\\.mesh\\.$', { exact: 'foo.mesh.', required: 'foo.mesh.' }],
  ['^Foo[.]mesh[.]$', { exact: 'foo.mesh.' }],
  ['foo.bar', { exact: undefined, required: 'foo' }],
  ['^(?:www\\.)?foo\\.mesh\\.$', { exact: undefined, required: 'foo.mesh.' }],
  ['^h-[0-9]+\\.lab\\.$', { required: '.lab.' }],
  ['foo(?m)?', { required: '' }],
  ['(a|b)', { required: '' }],
  ['^(?i)foo\\.$', { exact: undefined, required: 'foo.' }],
])('%s shows its hints', (source, shape) => {
  expect(readPatternShape(source)).toMatchObject(shape)
})

test('the steps of a pattern are never more than told', () => {
  fc.assert(
    fc.property(pattern, (source) => {
      try {
        const compiled = RE2JS.compile(source)
        expect(compiled.programSize()).toBeLessThanOrEqual(readPatternShape(source).steps + 10)
      } catch (error) {
        if (error instanceof Error && error.name === 'AssertionError') throw error
      }
    }),
    { numRuns: 1_000 },
  )
})

test.each(['(a{1000}){1000}', 'a{1000}'.repeat(3), '((a{30}){30}){30}', '(?:a{900}|b{900}|c{900})'])(
  '%s is never compiled',
  (source) => {
    const known = createPatternLibrary().get(source)
    expect(known.fault()).toBe('too_complex')
    expect(known.matches('a.')).toBe(false)
  },
)

test('a thousand patterns that share nothing with a name cost it nothing', () => {
  const sources = Array.from({ length: 1_000 }, (_, at) => `^service-${at}\\.[a-z]+\\.lab\\.$`)
  const set = createPatternSet(
    sources.map((source) => ({ source, owner: '', records: new Map() })),
    createPatternLibrary(),
  )
  expect(set.candidates('www.example.com.')).toEqual([])
  expect(set.candidates('service-77.x.lab.').length).toBeLessThan(10)
})

test("a bad pattern stands in nobody's way", async () => {
  const { ledger, dns } = createWorld()
  ledger.put('dns', '(', { 1: '10.1.0.9' })
  ledger.put('dns', '(?=x)', { 1: '10.1.0.9' })
  ledger.put('dns', 'x', { 1: '10.1.0.5' })
  const explained = await dns.explain('x.example.', 1)
  expect(explained).toMatchObject({ source: 'pattern', winner: { name: 'x' } })
  expect(explained.losers.map(({ reason }) => reason)).toEqual(['bad_syntax', 'bad_syntax'])
})
