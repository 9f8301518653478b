import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_PEER_RECORD_BYTES, MAX_RECORDS_PER_MESSAGE } from './limits.ts'
import { decodePeers, encodePeers } from './peers-message.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('is written as docs/PROTOCOLS.md says', () => {
  const bytes = encodePeers({ records: [Uint8Array.of(1, 2), Uint8Array.of(3)], stunPort: 3478, name: 'nas' })
  expect(hex(bytes)).toBe('0a0201020a010310961b1a036e6173')
  expect(hex(encodePeers({ records: [], stunPort: 0, name: undefined }))).toBe('')
})

test('what is written is read', () => {
  const record = fc.uint8Array({ maxLength: 100 })
  const name = fc.option(fc.stringMatching(/^[a-z0-9]{1,63}$/), { nil: undefined })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 20 }), fc.nat(65_535), name, (records, stunPort, name) => {
      const read = decodePeers(encodePeers({ records, stunPort, name }))
      expect(read).toMatchObject({ stunPort, name })
      expect(read?.records.map(hex)).toEqual(records.map(hex))
    }),
  )
})

test('unknown fields are skipped', () => {
  expect(decodePeers(Buffer.from(`22036162632805${'0a0101'}`, 'hex'))).toMatchObject({ stunPort: 0 })
})

test('records beyond the bounds are left out', () => {
  const many = Array.from({ length: MAX_RECORDS_PER_MESSAGE + 10 }, () => Uint8Array.of(1))
  expect(decodePeers(encodePeers({ records: many, stunPort: 0, name: undefined }))?.records).toHaveLength(
    MAX_RECORDS_PER_MESSAGE,
  )
  const long = new Uint8Array(MAX_PEER_RECORD_BYTES + 1)
  expect(decodePeers(encodePeers({ records: [long], stunPort: 70_000, name: undefined }))).toEqual({
    records: [],
    stunPort: 0,
    name: undefined,
  })
})

test.each(['', 'a b', 'x'.repeat(64), 'a\u001B[2Jb', '\u202Eevil', 'a.b', '-a'])(
  'a name that others could be misled by (%j) is none',
  (name) => {
    expect(decodePeers(encodePeers({ records: [], stunPort: 1, name }))).toEqual({
      records: [],
      stunPort: 1,
      name: undefined,
    })
  },
)

test('no bytes throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => decodePeers(bytes)).not.toThrow()
    }),
  )
})
