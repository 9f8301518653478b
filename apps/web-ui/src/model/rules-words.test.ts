import { expect, test } from 'vitest'
import { changeKind, endsInWords, fieldAt, helpOf, offersInWords } from './rules-words.ts'

test('ends and words are shortened for people', () => {
  const ends = Array.from({ length: 9 }, (_, at) => ({ Word: '', Name: `m${at}` }))
  expect(endsInWords(ends)).toBe('m0, m1, m2, m3, m4, m5 and 3 more')
  expect([[], ['*', 'icmp'], ['icmp', 'tcp:22']].map(offersInWords)).toEqual([
    'nothing',
    'everything',
    'icmp, tcp:22',
  ])
})

test.each([
  [[], ['icmp'], 'gains'],
  [['*'], ['icmp'], 'loses'],
  [['icmp'], ['*'], 'gains'],
  [['icmp'], ['tcp:22'], 'changes'],
  [['icmp'], [], 'loses'],
])('from %j to %j a pair %s', (Before, After, kind) => {
  expect(changeKind({ Before, After })).toBe(kind)
})

test('the field of the caret is the last one before it', () => {
  const text = 'allow:\n  - { from: [a], to: [b], "on": [tcp:22] }'
  expect(fieldAt(text, 0)).toBeUndefined()
  expect(fieldAt(text, text.indexOf('[a]'))).toBe('from')
  expect(fieldAt(text, text.indexOf('[b]'))).toBe('to')
  expect(fieldAt(text, text.length)).toBe('on')
})

test('help is what the schema says of each field, in rules too', () => {
  const schema = {
    properties: {
      $schema: { description: 'no' },
      allow: { description: 'rules', items: { properties: { from: { description: 'who' } } } },
    },
  }
  expect([...helpOf(schema)]).toEqual([
    ['allow', 'rules'],
    ['from', 'who'],
  ])
  expect(helpOf(undefined).size).toBe(0)
})
