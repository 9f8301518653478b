import { type PeerId, peerIdFromPublicKey, systemRandom } from '@mesh/core'
import { createLedger, createSigner, type Entry, type Ledger } from '@mesh/ledger'
import { afterEach, expect, test } from 'vitest'
import { generateEcdsaKey } from '../legacy/ecdsa-keys.ts'
import { AUTH_KEYS_READ_AT_ONCE } from '../limits.ts'
import { readAuthKeys } from './auth-keys.ts'
import { readTrustList } from './trust-list.ts'

const ledgers: Ledger[] = []
afterEach(async () => {
  for (const ledger of ledgers.splice(0)) await ledger.stop()
})

function openLedger(): Ledger {
  const ledger = createLedger({}, { signer: createSigner(systemRandom.bytes(32)) })
  ledgers.push(ledger)
  return ledger
}

const peer = (): PeerId => peerIdFromPublicKey(systemRandom.bytes(32))

test('everybody in the bucket is trusted; strictly only whom this node, or somebody whom it trusts, wrote there', async () => {
  const [mine, friends, strangers] = [openLedger(), openLedger(), openLedger()]
  const [a, b, c] = [peer(), peer(), peer()]
  await mine.put('trustzone', friends.self, '""').settled
  await mine.put('trustzone', a, '""').settled
  await friends.put('trustzone', b, '""').settled
  await strangers.put('trustzone', c, '""').settled
  await strangers.put('trustzone', 'no peer', '""').settled
  mine.merge([...friends.snapshot().entries(), ...strangers.snapshot().entries()], undefined)
  const read = (strict: boolean) => readTrustList(mine.snapshot(), { self: mine.self, strict })
  expect(read(false)).toEqual(new Set([friends.self, a, b, c]))
  expect(read(true)).toEqual(new Set([friends.self, a, b]))
  await mine.delete('trustzone', friends.self).settled
  expect(read(true)).toEqual(new Set([a]))
})

test('keys are what parses, under names that say ecdsa, and not too many', async () => {
  const ledger = openLedger()
  const { publicKey } = generateEcdsaKey()
  await ledger.put('trustzoneAuth', 'my_ecdsa_1', JSON.stringify(publicKey)).settled
  await ledger.put('trustzoneAuth', 'rsa', JSON.stringify(publicKey)).settled
  await ledger.put('trustzoneAuth', 'ecdsa_bad', '"LS0tLS1CRUdJTg=="').settled
  await ledger.put('trustzoneAuth', 'ecdsa_number', '7').settled
  expect(readAuthKeys(ledger.snapshot())).toHaveLength(1)
  for (let at = 0; at < 20; at++) {
    await ledger.put('trustzoneAuth', `ecdsa_${at}`, JSON.stringify(publicKey)).settled
  }
  expect(readAuthKeys(ledger.snapshot())).toHaveLength(16)
})

test('of thousands of entries that are no keys few are read at a time, and a key behind them is found in the end', async () => {
  const { publicKey } = generateEcdsaKey()
  const key = { bucket: 'trustzoneAuth', key: 'ecdsa_z', entry: entryOf(JSON.stringify(publicKey)) }
  let reads = 0
  const others = Array.from({ length: 3 * AUTH_KEYS_READ_AT_ONCE }, (_, at) => ({
    bucket: 'trustzoneAuth',
    key: `ecdsa_${at}`,
    entry: Object.defineProperty(entryOf(''), 'value', { get: () => (reads++, '"none"') }),
  }))
  const snapshot = { entries: () => [...others, key] }
  expect(readAuthKeys(snapshot)).toEqual([])
  expect(reads).toBe(AUTH_KEYS_READ_AT_ONCE)
  readAuthKeys(snapshot)
  readAuthKeys(snapshot)
  expect(readAuthKeys(snapshot)).toHaveLength(1)
  expect(reads).toBe(others.length)
})

function entryOf(value: string): Entry {
  return { owner: '', value, version: 1n, updatedAt: 0, deleted: false, sig: null }
}
