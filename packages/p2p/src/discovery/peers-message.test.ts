import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_PEER_RECORD_BYTES, MAX_RECORDS_PER_MESSAGE } from '../limits.ts'
import { decodePeers, encodePeers } from './peers-message.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('is written as docs/PROTOCOLS.md says', () => {
  const bytes = encodePeers({ records: [Uint8Array.of(1, 2), Uint8Array.of(3)], stunPort: 3478 })
  expect(hex(bytes)).toBe('0a0201020a010310961b')
  expect(hex(encodePeers({ records: [], stunPort: 0 }))).toBe('')
})

test('what is written is read', () => {
  const record = fc.uint8Array({ maxLength: 100 })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 20 }), fc.nat(65_535), (records, stunPort) => {
      const read = decodePeers(encodePeers({ records, stunPort }))
      expect(read?.stunPort).toBe(stunPort)
      expect(read?.records.map(hex)).toEqual(records.map(hex))
    }),
  )
})

test('unknown fields are skipped', () => {
  expect(decodePeers(Buffer.from(`1a03616263${'2005'}0a0101`, 'hex'))).toMatchObject({ stunPort: 0 })
})

test('records beyond the bounds are left out', () => {
  const many = Array.from({ length: MAX_RECORDS_PER_MESSAGE + 10 }, () => Uint8Array.of(1))
  expect(decodePeers(encodePeers({ records: many, stunPort: 0 }))?.records).toHaveLength(
    MAX_RECORDS_PER_MESSAGE,
  )
  const long = new Uint8Array(MAX_PEER_RECORD_BYTES + 1)
  expect(decodePeers(encodePeers({ records: [long], stunPort: 70_000 }))).toEqual({
    records: [],
    stunPort: 0,
  })
})

test('no bytes throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => decodePeers(bytes)).not.toThrow()
    }),
  )
})
