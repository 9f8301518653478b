import { expect, test } from 'vitest'
import { generateEcdsaKey, publicKeyText } from '../legacy/ecdsa-keys.ts'
import { parseGuardAuth } from './guard-auth.ts'

test('reads what legacy nodes are given, the name of the provider in any case', () => {
  const { privateKey, publicKey } = generateEcdsaKey()
  const key = parseGuardAuth(JSON.stringify({ ECDSA: { private_key: privateKey } }))
  expect(key === undefined ? '' : publicKeyText(key)).toBe(publicKey)
  expect(parseGuardAuth('{}')).toBeUndefined()
})

test.each([
  ['no JSON', 'ecdsa', 'trust.bad_auth'],
  ['a list', '[]', 'trust.bad_auth'],
  ['another provider', '{"rsa":{}}', 'trust.bad_auth'],
  ['no key', '{"ecdsa":{}}', 'trust.bad_auth'],
  ['a key that is none', '{"ecdsa":{"private_key":"abc"}}', 'trust.bad_key'],
])('says what is wrong with %s, and no secret with it', (_what, text, code) => {
  expect(() => parseGuardAuth(text)).toThrow(expect.objectContaining({ code }))
})
