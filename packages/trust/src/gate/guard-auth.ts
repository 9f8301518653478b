/** Reads `--peergate-auth`: JSON like `{"ecdsa":{"private_key":"..."}}`, as legacy nodes take it. */
import type { KeyObject } from 'node:crypto'
import { trustError } from '../errors.ts'
import { tryParsePrivateKey } from '../legacy/ecdsa-keys.ts'

/** Gives the private key of the provider `ecdsa`, if any. @throws MeshError `trust.bad_auth`, `trust.bad_key` */
export function parseGuardAuth(text: string): KeyObject | undefined {
  const providers = readJson(text)
  const expected = 'JSON like {"ecdsa":{"private_key":"KEY"}}'
  if (typeof providers !== 'object' || providers === null || Array.isArray(providers)) {
    throw badAuth(expected)
  }
  let key: KeyObject | undefined
  for (const [name, options] of Object.entries(providers)) {
    if (name.toLowerCase() !== 'ecdsa') throw badAuth(`${expected}: the only provider is ecdsa`)
    const given: unknown =
      typeof options === 'object' && options !== null ? Reflect.get(options, 'private_key') : undefined
    if (typeof given !== 'string') throw badAuth(expected)
    key = tryParsePrivateKey(given)
    if (key === undefined) {
      throw trustError('trust.bad_key', 'the private key of --peergate-auth is none', {
        hint: '`mesh peergater ecdsa-genkey` makes one; copy it whole.',
      })
    }
  }
  return key
}

function badAuth(expected: string) {
  return trustError('trust.bad_auth', `--peergate-auth must be ${expected}`, {
    hint: '`mesh peergater ecdsa-genkey --privkey` prints a key.',
  })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
