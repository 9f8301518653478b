/** The code of an invite: the seed of its key, with a checksum, as a text that survives being copied. */
import { sha256 } from '@noble/hashes/sha2.js'
import { trustError } from '../errors.ts'
import { toBase64url, tryFromBase64url } from './encodings.ts'

const PREFIX = 'mesh-invite-'
const LINK = 'mesh://join/'
const SEED_BYTES = 32
const CHECK_BYTES = 4

export function formatInviteCode(seed: Uint8Array): string {
  return PREFIX + toBase64url(concat(seed, checkOf(seed)))
}

/** Gives the link of an invite: `mesh://join/CODE`. */
export function formatInviteLink(code: string): string {
  return LINK + code
}

/** Gives the seed of the invite's key, from its code or its link. */
export function parseInviteCode(text: string): Uint8Array {
  const given = text.trim()
  const code = given.startsWith(LINK) ? given.slice(LINK.length) : given
  const bytes = tryFromBase64url(code.slice(PREFIX.length)) ?? new Uint8Array()
  const seed = bytes.slice(0, SEED_BYTES)
  const check = checkOf(seed)
  const isWhole =
    bytes.length === SEED_BYTES + CHECK_BYTES && check.every((byte, at) => byte === bytes[SEED_BYTES + at])
  if (code.startsWith(PREFIX) && isWhole) return seed
  throw trustError('trust.bad_invite', 'this is no code of an invite', {
    hint: `Copy it whole: it begins with ${PREFIX} and has 60 characters; in a link ${LINK} stands before it. \`mesh admin invite\` makes one.`,
  })
}

function checkOf(seed: Uint8Array): Uint8Array {
  return sha256(concat(new TextEncoder().encode('mesh invite code'), seed)).subarray(0, CHECK_BYTES)
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
