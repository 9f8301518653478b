import { systemClock, systemRandom, type PeerId, peerIdFromPublicKey } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { p521 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChallengeVerifier, signChallenge } from './challenge.ts'
import {
  decodePem,
  encodePem,
  generateEcdsaKey,
  publicKeyText,
  tryParsePrivateKey,
  tryParsePublicKey,
} from './ecdsa-keys.ts'

const pair = generateEcdsaKey()
const privateKey = tryParsePrivateKey(pair.privateKey) ?? expect.unreachable()
const publicKey = tryParsePublicKey(pair.publicKey) ?? expect.unreachable()
const other = tryParsePublicKey(generateEcdsaKey().publicKey) ?? expect.unreachable()
const peer = (): PeerId => peerIdFromPublicKey(systemRandom.bytes(32))

function verifier() {
  const clock = createManualClock()
  const given = new ChallengeVerifier(clock)
  const { signal } = new AbortController()
  const refusal = (...[sent, keys]: [ReturnType<typeof challenge>, Parameters<typeof given.refusal>[1]]) =>
    given.refusal(sent, keys, signal)
  return { clock, refusal }
}
const challenge = (author: PeerId, signature = signChallenge(privateKey)) => ({
  author,
  text: 'challenge',
  signature,
})

test('keys have the form of legacy nodes, and the public one follows from the private one', () => {
  expect(Buffer.from(pair.privateKey, 'base64url').toString()).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/)
  expect(Buffer.from(pair.publicKey, 'base64url').toString()).toMatch(/^-----BEGIN EC PUBLIC KEY-----\n/)
  expect(pair.publicKey.length % 4).toBe(0)
  expect(publicKeyText(privateKey)).toBe(pair.publicKey)
})

test('a challenge lets in who signed it with a key of the list, and with no other', async () => {
  const { refusal } = verifier()
  expect(await refusal(challenge(peer()), [other, publicKey])).toBeUndefined()
  expect(await refusal(challenge(peer()), [other])).toBe('no key fits')
  expect(await refusal(challenge(peer()), [])).toBe('no key fits')
})

test('another text is no challenge, although the signature fits', async () => {
  const { refusal } = verifier()
  expect(await refusal({ ...challenge(peer()), text: 'challenges' }, [publicKey])).toBe('not a challenge')
})

test('a challenge that another peer sends again is a replay, also with its second number turned', async () => {
  const { refusal } = verifier()
  const [author, thief] = [peer(), peer()]
  const signature = signChallenge(privateKey)
  expect(await refusal(challenge(author, signature), [publicKey])).toBeUndefined()
  expect(await refusal(challenge(author, signature), [publicKey])).toBeUndefined()
  expect(await refusal(challenge(thief, signature), [publicKey])).toBe('replayed')
  const { r, s } = p521.Signature.fromBytes(decodePem(signature) ?? Buffer.alloc(0), 'der')
  const turned = new p521.Signature(r, p521.Point.Fn.ORDER - s).toBytes('der')
  expect(await refusal(challenge(thief, encodePem('SIGNATURE', turned)), [publicKey])).toBe('replayed')
})

test('no more than so many are verified, whoever sends them', async () => {
  const { refusal, clock } = verifier()
  const refusals = await Promise.all(Array.from({ length: 20 }, () => refusal(challenge(peer()), [other])))
  expect(refusals.filter((each) => each === 'too many')).toHaveLength(4)
  await clock.advance(1_000)
  expect(await refusal(challenge(peer()), [publicKey])).toBeUndefined()
})

test('whatever is sent as signature or stands as a key, nothing is thrown and nobody is let in', async () => {
  const { refusal } = verifier()
  const pem = fc
    .tuple(fc.string(), fc.uint8Array({ maxLength: 300 }))
    .map(([label, der]) => encodePem(label, der))
  const text = fc.oneof(fc.string(), pem, fc.base64String(), fc.constant('LS0tLS1CRUdJTg=='))
  await fc.assert(
    fc.asyncProperty(text, async (drawn) => {
      expect(tryParsePublicKey(drawn)).toBeUndefined()
      expect(tryParsePrivateKey(drawn)).toBeUndefined()
      expect(await refusal(challenge(peer(), drawn), [publicKey])).toBeDefined()
    }),
  )
})

test('many keys are tried in turns, between which others have theirs', async () => {
  const given = new ChallengeVerifier(systemClock)
  const keys = Array.from({ length: 16 }, () => other)
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await given.refusal(challenge(peer()), keys, AbortSignal.timeout(10_000))
  clearImmediate(next)
  // a key takes 4 to 16 ms, as fast as the machine is, and all in one go would leave one turn
  expect(turns).toBeGreaterThan(2)
})
