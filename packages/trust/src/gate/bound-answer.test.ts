import { type PeerId, peerIdFromPublicKey, systemRandom } from '@mesh/core'
import { expect, test } from 'vitest'
import { generateEcdsaKey, tryParsePrivateKey, tryParsePublicKey } from '../legacy/ecdsa-keys.ts'
import { ChallengeVerifier } from '../legacy/challenge.ts'
import { createManualClock } from '@mesh/testkit'
import { encodePem } from '../legacy/ecdsa-keys.ts'
import { type AnswerBinding, isAnswer, signAnswer } from './bound-answer.ts'

const pair = generateEcdsaKey()
const key = tryParsePrivateKey(pair.privateKey) ?? expect.unreachable()
const keys = [tryParsePublicKey(pair.publicKey) ?? expect.unreachable()]
const peer = (): PeerId => peerIdFromPublicKey(systemRandom.bytes(32))
const binding: AnswerBinding = {
  network: '00112233445566778899',
  prover: peer(),
  verifier: peer(),
  nonce: systemRandom.bytes(32),
  timeMs: 1_786_540_000_000,
}
const now = binding.timeMs + 1_000
const signature = signAnswer(key, binding)

test('an answer is good for what it is bound to', () => {
  expect(isAnswer(keys, signature, { ...binding, now })).toBe(true)
})

test.each<[string, Partial<AnswerBinding>]>([
  ['another peer that sends it', { prover: peer() }],
  ['another peer that asked', { verifier: peer() }],
  ['another network', { network: '00112233445566778890' }],
  ['another nonce: a replay', { nonce: systemRandom.bytes(32) }],
  ['another time', { timeMs: binding.timeMs + 1 }],
])('it is not for %s', (_what, changed) => {
  expect(isAnswer(keys, signature, { ...binding, ...changed, now })).toBe(false)
})

test('nor hours later, nor with a time that is no number', () => {
  expect(isAnswer(keys, signature, { ...binding, now: now + 3_600_000 })).toBe(false)
  expect(isAnswer(keys, signature, { ...binding, timeMs: Number.NaN, now })).toBe(false)
  expect(isAnswer(keys, new Uint8Array(7), { ...binding, now })).toBe(false)
})

test('an answer never passes for a legacy challenge', async () => {
  const verifier = new ChallengeVerifier(createManualClock())
  const sent = { author: binding.prover, text: 'challenge', signature: encodePem('SIGNATURE', signature) }
  expect(await verifier.refusal(sent, keys, AbortSignal.timeout(10_000))).toBe('no key fits')
})
