// @vitest-environment node
import { describe, expect, test } from 'vitest'
import { deleteCommands, getCommands, putCommands } from './commands.ts'
import { buildGlyph } from './glyph.ts'
import { bytesInWords, packetRateInWords, rateInWords } from './rate-words.ts'
import { protocolInWords } from './protocol-words.ts'
import { rejectionInWords } from './rejection-words.ts'
import { ageInWords, roundTripInWords, spanInWords } from './time-words.ts'
import { describeValue, printForTyping, printInLine, readTypedValue } from './typed-value.ts'

test('ages are as short as a column', () => {
  const ages = [0, 3_900, 14_000, 119_000, 3 * 3_600_000, 47 * 3_600_000, 6 * 86_400_000]
  expect(ages.map(ageInWords)).toEqual(['now', 'now', '14 s', '1 min', '3 h', '47 h', '6 d'])
  expect(spanInWords(-5)).toBe('0 s')
})

test('round trips, rates and sizes keep at most three figures', () => {
  expect([0.43, 4, 4.26, 61.4].map(roundTripInWords)).toEqual(['0.4 ms', '4 ms', '4.3 ms', '61 ms'])
  expect(rateInWords(0)).toEqual({ figure: '0', unit: 'kbit/s' })
  expect(rateInWords(10_525_000)).toEqual({ figure: '84.2', unit: 'Mbit/s' })
  expect(rateInWords(125e6)).toEqual({ figure: '1', unit: 'Gbit/s' })
  expect([12, 2_400, 3_500_000].map(bytesInWords)).toEqual(['12 B', '2.4 kB', '3.5 MB'])
  expect([0, 0.5, 12.25, 1_024.4].map(packetRateInWords)).toEqual(['0 /s', '0.5 /s', '12.3 /s', '1,024 /s'])
})

test('reasons of refusals are words, and unknown ones stay as they are', () => {
  expect(rejectionInWords('FUTURE')).toBe('from the future')
  expect(rejectionInWords('toString')).toBe('toString')
})

test('protocols of the VPN have words of their own', () => {
  const words = ['/mesh/packets/1', '/mesh/vpn/1', '/other/1'].map(protocolInWords)
  expect(words).toEqual(['VPN packets', 'VPN tunnels', undefined])
})

test('a glyph is symmetric and depends on the id alone', () => {
  const glyph = buildGlyph('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
  expect(buildGlyph('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')).toEqual(glyph)
  const cells = new Set([...glyph.path.matchAll(/M(\d) (\d)/g)].map(([, x, y]) => `${x},${y}`))
  expect(cells.size).toBeGreaterThan(0)
  for (const cell of cells) {
    const [x, y] = cell.split(',').map(Number)
    expect(cells).toContain(`${4 - (x ?? 0)},${y}`)
  }
})

describe('a typed value', () => {
  test('is JSON where it can be, else text', () => {
    expect(readTypedValue('{"a":1}')).toEqual({ kind: 'json', value: { a: 1 } })
    expect(readTypedValue('hello')).toEqual({ kind: 'text', value: 'hello' })
    expect(readTypedValue('1795228706793271000').value).toBe(1795228706793271000n)
  })

  test('comes back as it was when it is printed for typing', () => {
    const values = ['hello', '5', 'true', '', '"q"', 5, true, null, ['a'], { a: { b: 'c' } }, 2n ** 60n]
    for (const value of values) expect(readTypedValue(printForTyping(value)).value).toEqual(value)
  })

  test('is described as what will be stored', () => {
    expect(describeValue('hello')).toBe('text, 5 characters')
    expect(describeValue({ a: 1 })).toBe('object with 1 field')
    expect(describeValue([1, 2])).toBe('list of 2')
    expect(describeValue(2n ** 60n)).toBe('number')
    expect(printInLine({ a: 2n ** 60n })).toBe('{"a":1152921504606846976}')
  })
})

describe('the same action in a terminal', () => {
  const at = { origin: 'http://127.0.0.1:8080', bucket: 'notes', key: "it's 1/2" }

  test('quotes for the shell and encodes for the URL', () => {
    expect(getCommands(at)).toEqual({
      curl: `curl 'http://127.0.0.1:8080/api/ledger/notes/it'\\''s%201%2F2'`,
      mesh: `mesh ledger get notes 'it'\\''s 1/2'`,
    })
    expect(deleteCommands({ ...at, key: '-k' }).mesh).toBe('mesh ledger delete -- notes -k')
  })

  test('writes text as text and all else as JSON', () => {
    const put = (value: unknown) => putCommands({ ...at, key: 'k' }, value).mesh
    expect(put('hello')).toBe('mesh ledger put notes k hello')
    expect(put({ a: 1 })).toBe(`mesh ledger put --json notes k '{"a":1}'`)
    expect(put('-')).toBe(`mesh ledger put --json notes k '"-"'`)
    expect(put('-x')).toBe('mesh ledger put -- notes k -x')
    expect(putCommands({ ...at, key: 'k' }, 'hello').curl).toBe(
      `curl -X PUT http://127.0.0.1:8080/api/ledger/notes/k -H 'Content-Type: application/json' --data-binary '"hello"'`,
    )
  })
})
