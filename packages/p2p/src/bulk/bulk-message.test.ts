import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBulkMessage, encodeBulkMessage } from './bulk-message.ts'

const OFFER = {
  type: 'offer',
  identity: Uint8Array.from({ length: 16 }, (_, at) => at),
  key: Uint8Array.from({ length: 32 }, (_, at) => 0x20 + at),
  ports: [4001, 8080],
} as const

test('messages are as docs/PROTOCOLS.md has them', () => {
  expect(Buffer.from(encodeBulkMessage(OFFER)).toString('hex')).toBe(
    '0a3a0a10000102030405060708090a0b0c0d0e0f1220202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f18a11f18903f',
  )
  expect(Buffer.from(encodeBulkMessage({ type: 'dial', count: 3 })).toString('hex')).toBe('12020803')
})

test('messages come back as they were', () => {
  expect(decodeBulkMessage(encodeBulkMessage(OFFER))).toEqual(OFFER)
  const none = { ...OFFER, ports: [] }
  expect(decodeBulkMessage(encodeBulkMessage(none))).toEqual(none)
  expect(decodeBulkMessage(encodeBulkMessage({ type: 'dial', count: 3 }))).toEqual({ type: 'dial', count: 3 })
})

test.each([
  ['a short key', { ...OFFER, key: new Uint8Array(31) }],
  ['a long identity', { ...OFFER, identity: new Uint8Array(17) }],
  ['port 0', { ...OFFER, ports: [0] }],
  ['port 65536', { ...OFFER, ports: [65_536] }],
  ['more ports than a node listens on', { ...OFFER, ports: [1, 2, 3, 4, 5] }],
  ['a request for no connection', { type: 'dial', count: 0 } as const],
  ['a request for a thousand connections', { type: 'dial', count: 1_000 } as const],
])('an offer or request with %s is none', (_name, message) => {
  expect(decodeBulkMessage(encodeBulkMessage(message))).toBeUndefined()
})

test('whatever comes, decoding does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(() => decodeBulkMessage(bytes)).not.toThrow()
    }),
  )
})
