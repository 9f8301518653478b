import { expect, it } from 'vitest'
import { peerOf } from '../testing/memory-machine.ts'
import { KeyRegistry, type PeerKey } from './key-registry.ts'
import { MAX_KEYS_OUTSIDE_TABLE } from './limits.ts'

const [A, B] = [peerOf(1), peerOf(2)]

function keyOf(number: number): PeerKey {
  const publicKey = new Uint8Array(32)
  new DataView(publicKey.buffer).setUint32(0, number)
  return { publicKey, presharedKey: new Uint8Array(32), mtu: 1280, since: 0 }
}

it('lets nobody hold the key of another, until that one has another key or none', () => {
  const keys = new KeyRegistry()
  keys.set(A, keyOf(1))
  expect(keys.isHeldByAnother(A, keyOf(1).publicKey)).toBe(false)
  expect(keys.isHeldByAnother(B, keyOf(1).publicKey)).toBe(true)
  keys.set(A, keyOf(2))
  expect(keys.isHeldByAnother(B, keyOf(1).publicKey)).toBe(false)
  expect(keys.isHeldByAnother(B, keyOf(2).publicKey)).toBe(true)
  expect([keys.delete(A), keys.delete(A)]).toEqual([true, false])
  expect(keys.isHeldByAnother(B, keyOf(2).publicKey)).toBe(false)
})

it('bounds the keys of members outside the table, and no others', () => {
  const keys = new KeyRegistry()
  for (let number = 1; number <= MAX_KEYS_OUTSIDE_TABLE; number++) keys.set(peerOf(number), keyOf(number))
  const [known, inside, outside] = [peerOf(1), peerOf(5000), peerOf(5001)]
  keys.setTable(new Set([inside]))
  expect([known, inside, outside].map((peer) => keys.mayHold(peer))).toEqual([true, true, false])
  keys.delete(known)
  expect(keys.mayHold(outside)).toBe(true)
})
