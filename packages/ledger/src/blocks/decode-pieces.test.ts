/** A block that comes in pieces is read as one that is all there, wherever it is cut. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInPieces, readWhole } from '../../test/in-pieces.ts'
import { type Decoded, decodePieces } from './decode-block.ts'
import {
  LOOK_AHEAD_BYTES,
  MAX_BLOCK_BYTES,
  MAX_ENTRY_TEXT_BYTES,
  MAX_SKIPPED_BYTES,
  MAX_STRING_BYTES,
  MAX_WHITE_SPACE_BYTES,
} from '../limits.ts'

const bytes = (json: string) => new TextEncoder().encode(json)
const spaces = (count: number) => ' '.repeat(count)

/** What an entry may be, the longest of what a bound lets through among it. */
const entryText = fc.oneof(
  { weight: 6, arbitrary: fc.json({ maxDepth: 3 }) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 0, max: 3_000 }).map((n) => `{"Value":"${'v'.repeat(n)}","Version":${n}}`),
  },
  fc.constant(`{"Value":"${'\\u0001'.repeat(65_536)}","Owner":"o"}`),
  fc.constant(`{"Value":"${'v'.repeat(MAX_STRING_BYTES + 1)}"}`),
  fc.constant(
    `{${spaces(MAX_WHITE_SPACE_BYTES)}"Value"${spaces(60_000)}:${spaces(60_000)}"x"${spaces(60_000)}}`,
  ),
  fc.constant(`{${Array.from({ length: 18 }, (_, at) => `"${at}":[${'{},'.repeat(20_000)}0]`).join(',')}}`),
  fc.constant(`{"x":[${'1,'.repeat(400_000)}1]}`),
  fc.constant(`"\u00e9\ud83d\ude00${'\u00e9'.repeat(5_000)}"`),
  fc.constant('{"Value":7}'),
  fc.constant(`"${'n'.repeat(MAX_ENTRY_TEXT_BYTES)}"`),
)
const keyText = fc.oneof(
  { weight: 8, arbitrary: fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)) },
  fc.constant(`"${'k'.repeat(2_000)}"`),
  fc.constant(`"${'k'.repeat(MAX_STRING_BYTES)}"`),
)
const members = (value: fc.Arbitrary<string>, size: { minLength: number; maxLength: number }) =>
  fc
    .array(fc.tuple(keyText, value), size)
    .map((pairs) => `{${pairs.map(([key, text]) => `${key}:${text}`).join(',')}}`)
const bucketText = fc.oneof(
  { weight: 5, arbitrary: members(entryText, { minLength: 0, maxLength: 14 }) },
  { weight: 1, arbitrary: fc.json() },
)
const blockText = fc
  .tuple(
    members(bucketText, { minLength: 1, maxLength: 5 }),
    fc.oneof(fc.constant(''), fc.constant(`"x":[${'[1],'.repeat(500_000)}0],`), fc.constant('"Hash":"h",')),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant('') },
      fc.constant(' trailing'),
      fc.constant(spaces(70_000)),
    ),
  )
  .map(([storage, before, after]) =>
    bytes(`{"Index":7,${before}"Storage":${storage},"PrevHash":"p"}${after}`),
  )
/** One byte that is another, or the end of the text there. */
const damage = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      byte: fc.nat(255),
      isCut: fc.boolean(),
    }),
  },
)
const damagedText = fc.tuple(blockText, damage).map(([text, fault]) => {
  if (fault === undefined) return text
  const at = Math.floor(fault.at * text.length)
  if (fault.isCut) return text.slice(0, at)
  text[at] = fault.byte
  return text
})
const pieceLengths = fc.infiniteStream(
  fc.oneof(
    fc.integer({ min: 0, max: 50 }),
    fc.integer({ min: 1, max: 5_000 }),
    fc.integer({ min: 1, max: 1_500_000 }),
  ),
)

test('any text gives the same steps and head, cut anywhere', () => {
  let long = 0
  fc.assert(
    fc.property(damagedText, pieceLengths, (text, lengths) => {
      if (text.length > LOOK_AHEAD_BYTES) long++
      expect(readInPieces(text, () => lengths.next().value)).toBe(readWhole(text))
    }),
    { numRuns: 25 },
  )
  expect(long).toBeGreaterThan(5)
}, 120_000)

function longestEntry(): string {
  const others = Array.from({ length: 50 }, (_, at) => `"${at}":"${'v'.repeat(60_000)}"`).join(',')
  const fields = Array.from({ length: 15 }, (_, at) => `"${at}":[${'{},'.repeat(21_000)}0]`).join(',')
  const value = `"Value"${spaces(60_000)}:${spaces(60_000)}"${'\\u0001'.repeat(65_536)}"${spaces(60_000)}`
  const key = `"${'k'.repeat(MAX_STRING_BYTES)}"${spaces(60_000)}:${spaces(60_000)}`
  return `{"Storage":{"b":{${others},${key}{${fields},${value}},"z":"1"}}}`
}

test.each<[string, string]>([
  ['nothing', ''],
  ['null', 'null'],
  ['a long run of white space', spaces(MAX_WHITE_SPACE_BYTES + 2)],
  ['what is skipped', `{"x":"${'x'.repeat(MAX_SKIPPED_BYTES - 2)}","Storage":{"b":{"a":"1"}}}`],
  ['more than may be skipped', `{"x":"${'x'.repeat(MAX_SKIPPED_BYTES - 1)}","Storage":{"b":{"a":"1"}}}`],
  ['a bucket that is none', `{"Storage":{"b":[${'1,'.repeat(1_500_000)}1],"c":{"k":"v"}}}`],
  ['the longest key and entry behind others', longestEntry()],
  ['broken UTF-8 at a cut', `{"Storage":{"b":{"k":"\u00e9"}}}`],
])('bytes one by one, and one long piece: %s', (_what, json) => {
  const text = bytes(json)
  const expected = readWhole(text)
  for (const length of text.length < 100 ? [1, 2, 3] : [10_000, text.length]) {
    expect(readInPieces(text, () => length)).toBe(expected)
  }
})

test('of a block in pieces that has more than 64 MiB, what came before stands', () => {
  const start = bytes('{"Storage":{"b":{"a":"1","k":"')
  const decoding = decodePieces()
  const steps: Decoded[] = []
  let [sent, step] = [0, decoding.next(undefined)]
  const entries = bytes(
    `",${Array.from({ length: 900 }, (_, at) => `"${at}":"${'v'.repeat(1000)}",`).join('')}"k":"`,
  )
  while (step.done !== true) {
    if (step.value.type !== 'more') steps.push(step.value)
    const isFirst = step.value.type === 'more' && sent === 0
    const next = isFirst ? start : entries
    if (step.value.type === 'more') sent += next.length
    step = decoding.next(step.value.type === 'more' ? next : undefined)
  }
  expect(steps[0]).toMatchObject({ type: 'entry' })
  expect(steps.at(-1)).toEqual({ type: 'refused', code: 'TOO_LARGE', bucket: '', key: '' })
  expect(sent).toBeGreaterThan(MAX_BLOCK_BYTES)
  expect(sent).toBeLessThan(MAX_BLOCK_BYTES + 2 * entries.length)
})
