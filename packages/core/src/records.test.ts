import { expect, test } from 'vitest'
import { dnsRecord, machineRecord, serviceRecord, userRecord } from './records.ts'

test('a machine keeps what is unknown, and what is missing or no text reads as empty', () => {
  expect(machineRecord.safeParse({ PeerID: 'a', Hostname: 7, OS: 'linux', Future: [1] })).toEqual({
    success: true,
    data: { PeerID: 'a', Hostname: '', OS: 'linux', Arch: '', Address: '', Version: '', Future: [1] },
  })
})

test('reading changes nothing in what was read', () => {
  const value = Object.freeze({ PeerID: 'a', Name: null })
  expect(serviceRecord.safeParse(value).data).toEqual({ PeerID: 'a', Name: '' })
  expect(value.Name).toBeNull()
})

test.each([undefined, null, 'text', 1, [], ['PeerID'], {}, { PeerID: 1 }, { peerid: 'a' }])(
  '%j is no record',
  (value) => {
    for (const reader of [machineRecord, userRecord, serviceRecord]) {
      expect(reader.safeParse(value)).toEqual({ success: false })
    }
  },
)

test('a key __proto__ is a field like others and gives no record a prototype', () => {
  const { data } = userRecord.safeParse(JSON.parse('{"PeerID":"a","__proto__":{"Timestamp":"forged"}}'))
  expect(data?.Timestamp).toBe('')
  expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
})

test('a name record is texts by type, and nothing else', () => {
  expect(dnsRecord.safeParse({ 1: '10.1.0.11' }).data).toEqual({ 1: '10.1.0.11' })
  expect(dnsRecord.safeParse({}).data).toEqual({})
  for (const value of [{ 1: 1 }, [], ['10.1.0.11'], null, 'text']) {
    expect(dnsRecord.safeParse(value)).toEqual({ success: false })
  }
})
