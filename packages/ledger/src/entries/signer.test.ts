import { peerIdFromPublicKey } from '@mesh/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNodeSigner, createNodeVerifier } from '../node/node-crypto.ts'
import { createSigner, verifySignature } from './signer.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

/** Points of low order and encodings beside the canonical ones, with both signs; `p` is 2^255 - 19. */
const ODD_POINTS = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0200000000000000000000000000000000000000000000000000000000000000',
].flatMap((hex) => {
  const point = Uint8Array.from(Buffer.from(hex, 'hex'))
  return [point, point.with(31, (point[31] ?? 0) | 0x80)]
})

/** The larger library of the same author, which has been audited. */
function verdictOfCurves(sig: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return ed25519.verify(sig, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

test('signs the same bytes under the same name as the audited library and as node:crypto', () => {
  fc.assert(
    fc.property(bytes(32), fc.uint8Array({ maxLength: 300 }), (seed, message) => {
      const signer = createSigner(seed)
      expect(signer.peerId).toBe(peerIdFromPublicKey(ed25519.getPublicKey(seed)))
      expect(signer.sign(message)).toEqual(ed25519.sign(message, seed))
      expect(signer.sign(message)).toEqual(createNodeSigner(seed).sign(message))
    }),
    { numRuns: 20 },
  )
})

test('takes what was signed, and nothing in which a bit differs, as the others do', () => {
  const verifyByNode = createNodeVerifier()
  const place = fc.record({ at: fc.nat(63), bit: fc.nat(7) })
  fc.assert(
    fc.property(bytes(32), fc.uint8Array({ maxLength: 300 }), place, (seed, message, { at, bit }) => {
      const { peerId, sign } = createSigner(seed)
      const sig = sign(message)
      expect(verifySignature(peerId, message, sig)).toBe(true)
      const forged = sig.with(at, (sig[at] ?? 0) ^ (1 << bit))
      expect(verifySignature(peerId, message, forged)).toBe(false)
      expect(verifyByNode(peerId, message, forged)).toBe(false)
      expect(verdictOfCurves(forged, message, ed25519.getPublicKey(seed))).toBe(false)
    }),
    { numRuns: 20 },
  )
})

test('judges odd points as key, as first half and with any second half as the audited library does', () => {
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
  const halves = [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n].map((value) =>
    Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex')).reverse(),
  )
  const honest = ed25519.getPublicKey(new Uint8Array(32).fill(7))
  const message = new TextEncoder().encode('odd')
  for (const publicKey of [honest, ...ODD_POINTS]) {
    for (const first of [honest, ...ODD_POINTS]) {
      for (const second of halves) {
        const sig = Uint8Array.of(...first, ...second)
        expect(verifySignature(peerIdFromPublicKey(publicKey), message, sig)).toBe(
          verdictOfCurves(sig, message, publicKey),
        )
      }
    }
  }
})

test.each([0, 1, 63, 65])('a signature of %i bytes is none', (length) => {
  const { peerId } = createSigner(new Uint8Array(32).fill(1))
  expect(verifySignature(peerId, new Uint8Array(4), new Uint8Array(length))).toBe(false)
})
