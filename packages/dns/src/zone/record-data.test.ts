import * as dnsPacket from 'dns-packet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeRecordData } from './record-data.ts'

function decoded(type: number, text: string): unknown {
  const data = encodeRecordData(type, text)
  if (data === undefined) return undefined
  const head = Buffer.from([0, 0, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, type, 0, 1, 0, 0, 0, 1, 0, 0])
  head.writeUInt16BE(data.length, 21)
  const [answer] = dnsPacket.decode(Buffer.concat([head, data])).answers ?? []
  return answer && 'data' in answer ? answer.data : undefined
}

test.each([
  [1, '10.1.0.5', '10.1.0.5'],
  [28, 'fd00:0::5', 'fd00::5'],
  [5, 'Other.example.com', 'Other.example.com'],
  [12, 'host.mesh.', 'host.mesh'],
  [15, '10 mail.mesh.', { preference: 10, exchange: 'mail.mesh' }],
  [33, '1 2 443 web.mesh.', { priority: 1, weight: 2, port: 443, target: 'web.mesh' }],
  [16, 'two words', [Buffer.from('two'), Buffer.from('words')]],
  [16, '"one string" "with \\"quotes\\" \\065"', [Buffer.from('one string'), Buffer.from('with "quotes" A')]],
  [1, '\\# 4 0a010005', '10.1.0.5'],
])('type %i takes %s', (type, text, value) => {
  expect(decoded(type, text)).toEqual(value)
})

test.each([
  [1, 'fd00::5'],
  [1, '10.1.0.256'],
  [1, ''],
  [28, '10.1.0.5'],
  [5, 'a..b'],
  [15, 'mail.mesh.'],
  [15, '65536 mail.mesh.'],
  [33, '1 2 web.mesh.'],
  [16, '"open'],
  [257, 'anything'],
  [1, '\\# 5 0a010005'],
])('type %i does not take %j', (type, text) => {
  expect(encodeRecordData(type, text)).toBeUndefined()
})

test('long texts are cut into strings that DNS can carry', () => {
  const strings = decoded(16, 'x'.repeat(600)) as Buffer[]
  expect(strings.map(({ length }) => length)).toEqual([255, 255, 90])
})

test('no value that a member may write throws', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.string({ unit: 'binary' }), (type, text) => {
      expect(() => encodeRecordData(type, text)).not.toThrow()
    }),
  )
})
