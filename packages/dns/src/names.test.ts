import { parseIp } from '@mesh/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalName, isUnder, labelOf, nameText, parseName } from './names.ts'
import { reverseName, reverseZones } from './reverse-names.ts'

test('a name is its bytes and back, whatever its bytes are', () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.array(label, { maxLength: 8 }), (labels) => {
      const bytes = Uint8Array.from([...labels.flatMap((each) => [each.length, ...each]), 0])
      const lower = bytes.map((byte, at) =>
        isLabelByte(labels, at) && byte >= 65 && byte <= 90 ? byte + 32 : byte,
      )
      expect(parseName(nameText(bytes, 0))).toEqual(Uint8Array.from(lower))
    }),
  )
})

function isLabelByte(labels: readonly Uint8Array[], at: number): boolean {
  let start = 0
  for (const label of labels) {
    if (at === start) return false
    if (at <= start + label.length) return true
    start += label.length + 1
  }
  return false
}

test.each(['a..b', '.a', `${'a'.repeat(64)}.b`, `${'a.'.repeat(128)}`, 'a\\', 'a\\999', '', 'ä.b'])(
  '%j is no name',
  (text) => {
    expect(parseName(text)).toBeUndefined()
  },
)

test('names are the same with and without the dot at the end, in any case', () => {
  expect(canonicalName('Foo.Mesh')).toBe('foo.mesh.')
  expect(canonicalName('foo.mesh.')).toBe('foo.mesh.')
  expect(canonicalName('.')).toBe('.')
})

test('a dot inside a label ends no label', () => {
  expect(isUnder('a\\.mesh.', 'mesh.')).toBe(false)
  expect(isUnder('a\\\\.mesh.', 'mesh.')).toBe(true)
  expect(isUnder('a.mesh.', 'mesh.')).toBe(true)
  expect(isUnder('amesh.', 'mesh.')).toBe(false)
  expect(isUnder('anything.', '.')).toBe(true)
})

test.each([
  ['My Laptop (2)', 'my-laptop-2'],
  ['--', ''],
  ['x'.repeat(80), 'x'.repeat(63)],
  ['web_1', 'web-1'],
])('%s becomes the label %s', (text, label) => {
  expect(labelOf(text)).toBe(label)
})

test('addresses have their reverse names', () => {
  expect(reverseName(parseIp('10.1.0.5'))).toBe('5.0.1.10.in-addr.arpa.')
  expect(reverseName(parseIp('fd00::12'))).toBe(
    '2.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa.',
  )
})

test('a range has the zones that hold just its reverse names', () => {
  expect(reverseZones('10.1.0.0/24')).toEqual(['0.1.10.in-addr.arpa.'])
  expect(reverseZones('10.0.0.0/8')).toEqual(['10.in-addr.arpa.'])
  expect(reverseZones('10.4.0.0/15')).toEqual(['4.10.in-addr.arpa.', '5.10.in-addr.arpa.'])
  expect(reverseZones('fd00::/62')).toHaveLength(4)
  expect(reverseZones('10.1.0.4/32')).toEqual(['4.0.1.10.in-addr.arpa.'])
})
