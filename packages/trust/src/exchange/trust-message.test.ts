import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { decodeTrustMessage, encodeTrustMessage, type TrustMessage } from './trust-message.ts'

const bytes = fc.uint8Array({ maxLength: 200 })
const message: fc.Arbitrary<Exclude<TrustMessage, { kind: 'unknown' }>> = fc.oneof(
  bytes.map((nonce) => ({ kind: 'nonce', nonce }) as const),
  fc
    .tuple(fc.nat(2 ** 52), bytes)
    .map(([timeMs, signature]) => ({ kind: 'answer', timeMs, signature }) as const),
  bytes.map((digest) => ({ kind: 'digest', digest }) as const),
  bytes.map((block) => ({ kind: 'entries', block }) as const),
  fc.constant({ kind: 'done' } as const),
)

test('messages are read as they were written', () => {
  fc.assert(
    fc.property(message, (drawn) => {
      expect(decodeTrustMessage(encodeTrustMessage(drawn))).toEqual(drawn)
    }),
  )
})

test('whatever comes, nothing is thrown; two messages in one are none', () => {
  fc.assert(fc.property(bytes, (drawn) => void decodeTrustMessage(drawn)))
  const two = [encodeTrustMessage({ kind: 'done' }), encodeTrustMessage({ kind: 'done' })]
  expect(decodeTrustMessage(Buffer.concat(two))).toBeUndefined()
  expect(decodeTrustMessage(Uint8Array.of(0x62, 0x00))).toEqual({ kind: 'unknown' })
})

test('a message of nothing but short ones is not read on after the second', () => {
  const copies = vi.spyOn(Uint8Array, 'from')
  try {
    expect(decodeTrustMessage(Buffer.alloc(98_304, Uint8Array.of(0x0a, 0)))).toBeUndefined()
    expect(copies.mock.calls.length).toBeLessThan(4)
  } finally {
    copies.mockRestore()
  }
})
