import { describe, expect, test } from 'vitest'
import { type Decoded, decodeBlock, decodeEntries } from './decode-block.ts'
import { MAX_BLOCK_BYTES, MAX_BLOCK_ENTRIES, MAX_FIELD_NAME_BYTES, MAX_SKIPPED_BYTES } from '../limits.ts'

const bytes = (json: string) => new TextEncoder().encode(json)

/** Short words for what a block's steps are. */
function read(json: string | Uint8Array): string[] {
  const steps: Decoded[] = [...decodeBlock(typeof json === 'string' ? bytes(json) : json)]
  return steps.map((step) =>
    step.type === 'entry'
      ? `${step.keyed.bucket}/${step.keyed.key}=${step.keyed.entry.value}`
      : `${step.code} ${step.bucket}/${step.key}`,
  )
}
const entryOf = (json: string) => decodeEntries(bytes(`{"Storage":{"b":{"k":${json}}}}`)).entries[0]?.entry

describe('as Go reads it', () => {
  test('keys in any case, unknown ones skipped, fields in any order', () => {
    const json = `{"x":[{"y":1}],"\u017fTORAGE":{"b":{"k":{"dELETED":true,"OWNER":"o","sig":null,"VERSION":7,"upDatedAt":-3,"value":"v","more":{}}}},"INDEX":4}`
    const { head, entries, refused } = decodeEntries(bytes(json))
    expect(refused).toBe(0)
    expect(head.index).toBe(4)
    expect(entries).toEqual([
      {
        bucket: 'b',
        key: 'k',
        entry: { value: 'v', owner: 'o', version: 7n, updatedAt: -3, deleted: true, sig: null },
      },
    ])
  })

  test('null leaves a field as it is, and stands for an empty block, bucket or bare value', () => {
    expect(entryOf('{"Value":"v","Value":null,"Version":null}')).toMatchObject({ value: 'v', version: 0n })
    expect(entryOf('null')).toMatchObject({ value: '', version: 0n })
    expect(read('null')).toEqual([])
    expect(read('{"Storage":null}')).toEqual([])
    expect(read('{"Storage":{"b":null,"c":{"k":"v"}}}')).toEqual(['c/k=v'])
  })

  test('lone surrogates and broken UTF-8 become U+FFFD', () => {
    expect(entryOf('"\\ud800x"')?.value).toBe('\ufffdx')
    const raw = [...bytes('{"Storage":{"b":{"k":"'), 0xff, ...bytes('"}}}')]
    expect(read(Uint8Array.from(raw))).toEqual(['b/k=\ufffd'])
  })

  test('the greatest version and the least time', () => {
    expect(entryOf('{"Version":18446744073709551615,"UpdatedAt":-9007199254740991}')).toMatchObject({
      version: 2n ** 64n - 1n,
      updatedAt: -9007199254740991,
    })
  })

  test('names of JavaScript are names like any other', () => {
    expect(read('{"Storage":{"__proto__":{"constructor":"v"},"toString":{"__proto__":"w"}}}')).toEqual([
      '__proto__/constructor=v',
      'toString/__proto__=w',
    ])
  })
})

describe('one bad entry is counted and the others are read', () => {
  test.each([
    ['7', 'MALFORMED'],
    ['true', 'MALFORMED'],
    ['["v"]', 'MALFORMED'],
    ['{"Value":7}', 'MALFORMED'],
    ['{"Value":{"a":[1,{"b":"}"}]}}', 'MALFORMED'],
    ['{"Version":1.5}', 'MALFORMED'],
    ['{"Version":1.7e18}', 'MALFORMED'],
    ['{"Version":"7"}', 'MALFORMED'],
    ['{"Version":-1}', 'MALFORMED'],
    ['{"Version":18446744073709551616}', 'MALFORMED'],
    ['{"UpdatedAt":9007199254740992}', 'MALFORMED'],
    ['{"Deleted":"true"}', 'MALFORMED'],
    ['{"Sig":"not base64!"}', 'MALFORMED'],
    ['{"Sig":"QUJD="}', 'MALFORMED'],
    [`{"Sig":"${'A'.repeat(400)}"}`, 'TOO_LARGE'],
    [`{"Owner":"${'o'.repeat(200)}"}`, 'TOO_LARGE'],
    [`{"Value":"${'v'.repeat(65_537)}"}`, 'TOO_LARGE'],
    [`"${'\u00e9'.repeat(32_769)}"`, 'TOO_LARGE'],
  ])('%.40s', (json, code) => {
    expect(read(`{"Storage":{"b":{"a":"1","k":${json},"z":"2"},"c":{"d":"3"}}}`)).toEqual([
      'b/a=1',
      `${code} b/k`,
      'b/z=2',
      'c/d=3',
    ])
  })

  test('a bucket that is none, a key and a bucket that are too long', () => {
    const long = 'x'.repeat(2000)
    expect(read(`{"Storage":{"a":7,"b":{"${long}":"1","k":"2"},"${long}":{"k":"3"},"c":{"k":"4"}}}`)).toEqual(
      [
        'MALFORMED a/',
        `TOO_LARGE b/${long.slice(0, 256)}`,
        'b/k=2',
        `TOO_LARGE ${long.slice(0, 256)}/k`,
        'c/k=4',
      ],
    )
  })
})

describe('what is no JSON ends the block; what came before it stays', () => {
  test.each([
    ['', []],
    ['{', []],
    ['[]', []],
    ['{"Storage":{"b":{"a":"1",}}}', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1" "k":"2"}}}', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1","k":"\\x"}}}', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1","k":"un', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1","k":"tab\there"}}}', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1","k":{"Version":01}}}}', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1"}}} trailing', ['b/a=1']],
    ['{"Storage":{"b":{"a":"1"}},"Index":"7"}', ['b/a=1']],
  ])('%s', (json, before) => {
    expect(read(json)).toEqual([...before, 'MALFORMED /'])
  })

  test('nesting has a bound, and costs no stack', () => {
    const nested = (depth: number) =>
      `{"Storage":{"b":{"k":{"x":${'['.repeat(depth)}${']'.repeat(depth)}},"l":"1"}}}`
    expect(read(nested(9000))).toEqual(['b/k=', 'b/l=1'])
    expect(read(nested(200_000))).toEqual(['MALFORMED /'])
  })
})

test('a block has at most 100,000 entries, of which the first are read', () => {
  const rows = Array.from({ length: MAX_BLOCK_ENTRIES + 5 }, (_, n) => `"${n}":"v"`)
  const steps = read(`{"Storage":{"b":{${rows.join(',')}}}}`)
  expect(steps).toHaveLength(MAX_BLOCK_ENTRIES + 1)
  expect(steps.at(-1)).toBe('TOO_LARGE /')
})

test('a block has at most 64 MiB', () => {
  expect(read(new Uint8Array(MAX_BLOCK_BYTES + 1))).toEqual(['TOO_LARGE /'])
})

describe('what nobody wants of a block', () => {
  const list = (bytesLong: number) => `[${'1,'.repeat(bytesLong / 2)}1]`

  test('is skipped where it is bounded', () => {
    const nested = `{"a":[{},[],{"b":[1,"x\\n",true,null]}],"c":{"d":-1.5e3}}`
    const json = `{"x":${list(1_000_000)},"y":${nested},"Storage":{"b":{"a":"1"}}}`
    expect(read(json)).toEqual(['b/a=1'])
  })

  test.each(['[1,]', '{"a":1,}', '{"a"}', '[1 2]', '{1:2}', '[', '{"a":', '"x', '[}', 'tru'])(
    'is checked for its form: %s',
    (value) => {
      expect(read(`{"x":${value},"Storage":{"b":{"a":"1"}}}`)).toEqual(['MALFORMED /'])
    },
  )

  const tooMuch = list(MAX_SKIPPED_BYTES)
  const half = list(MAX_SKIPPED_BYTES / 2)
  test.each<[string, string]>([
    ['a list in a field that nobody knows', `{"x":${tooMuch},"Storage":{"b":{"a":"1"}}}`],
    ['a text in one', `{"x":"${'x'.repeat(MAX_SKIPPED_BYTES)}","Storage":{"b":{"a":"1"}}}`],
    ['two that are too much together', `{"x":${half},"y":${half},"Storage":{"b":{"a":"1"}}}`],
    ['a long name', `{"${'x'.repeat(MAX_SKIPPED_BYTES)}":1,"Storage":{"b":{"a":"1"}}}`],
    ['a name of some length', `{"${'x'.repeat(MAX_FIELD_NAME_BYTES + 1)}":1,"Storage":{"b":{"a":"1"}}}`],
    ['white space', `{${' '.repeat(100_000)}"Storage":{"b":{"a":"1"}}}`],
    ['a long number', `{"Index":${'1'.repeat(10_000)},"Storage":{"b":{"a":"1"}}}`],
    ['one field again and again', `{${'"Hash":"",'.repeat(100)}"Storage":{"b":{"a":"1"}}}`],
    ['empty buckets', `{"Storage":{${'"a":{},'.repeat(100_001)}"b":{"a":"1"}}}`],
    ['buckets that are none', `{"Storage":{${'"a":null,'.repeat(100_001)}"b":{"a":"1"}}}`],
    ['an entry that is none', `{"Storage":{"b":{"k":${tooMuch},"a":"1"}}}`],
  ])('is bounded, and such a block is refused: %s', (_what, json) => {
    expect(read(json)).toEqual(['TOO_LARGE /'])
  })

  test('an entry with a long unknown field, or with its fields again and again, is refused alone', () => {
    const fields = '"Value":"x",'.repeat(100)
    const json = `{"Storage":{"b":{"k":{"x":${list(100_000)}},"l":{${fields}"Value":"x"},"m":"1"}}}`
    expect(read(json)).toEqual(['TOO_LARGE b/k', 'TOO_LARGE b/l', 'b/m=1'])
  })

  test('an entry whose fields have long names, or are long together, is left after a part of it', () => {
    const named = `{"${'\\u017f'.repeat(MAX_FIELD_NAME_BYTES / 6 + 1)}":0,"Value":"x"}`
    expect(read(`{"Storage":{"b":{"k":${named},"m":"1"}}}`)).toEqual(['TOO_LARGE b/k', 'b/m=1'])
    const value = `"Value":"${'\\u0001'.repeat(65_536)}"`
    const times = (count: number) => Array.from({ length: count }, () => value).join(',')
    expect(entryOf(`{${times(3)}}`)?.value).toHaveLength(65_536)
    expect(read(`{"Storage":{"b":{"k":{${times(5)}},"m":"1"}}}`)).toEqual(['TOO_LARGE b/k', 'b/m=1'])
  })
})
