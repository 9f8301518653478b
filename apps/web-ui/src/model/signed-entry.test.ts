// @vitest-environment node
import { canonicalBytes } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { NAS, SELF } from '../../test/support/fake-node.ts'
import { checkSignature } from './signed-entry.ts'

const unsigned = {
  value: '"world"',
  owner: SELF.peerId,
  version: 1_795_228_706_793_271_000n,
  updatedAt: 1_795_228_706,
  deleted: false,
  sig: null,
}
const sig = SELF.sign(canonicalBytes({ bucket: 'notes', key: 'hello', entry: unsigned })).slice()
const signed = {
  Value: unsigned.value,
  Owner: unsigned.owner,
  Version: unsigned.version,
  UpdatedAt: unsigned.updatedAt,
  Deleted: false,
  Sig: Buffer.from(sig).toString('base64'),
}
const at = { bucket: 'notes', key: 'hello', signed }

test('verifies what the owner signed', () => {
  expect(checkSignature(at)).toBe('verified')
})

test('any other bucket, key, value, version, time or owner does not fit', () => {
  const changed = [
    { ...at, bucket: 'other' },
    { ...at, key: 'other' },
    { ...at, signed: { ...signed, Value: '"x"' } },
    { ...at, signed: { ...signed, Version: signed.Version + 1n } },
    { ...at, signed: { ...signed, UpdatedAt: signed.UpdatedAt + 1 } },
    { ...at, signed: { ...signed, Deleted: true } },
    { ...at, signed: { ...signed, Owner: NAS.peerId } },
    { ...at, signed: { ...signed, Owner: 'nobody' } },
    { ...at, signed: { ...signed, Sig: '???' } },
    { ...at, signed: { ...signed, Sig: '' } },
    { ...at, signed: { ...signed, Sig: null } },
  ]
  expect(changed.map(checkSignature)).toEqual(changed.map(() => 'wrong'))
})

test('what nobody signed is unsigned', () => {
  expect(checkSignature({ ...at, signed: { ...signed, Owner: '', Sig: null } })).toBe('unsigned')
})
