/** The code of an invite: the seed of its key, with a checksum, as a text that survives being copied. */
import { createHash } from 'node:crypto'
import { trustError } from '../errors.ts'

const PREFIX = 'mesh-invite-'
const LINK = 'mesh://join/'
const SEED_BYTES = 32
const CHECK_BYTES = 4

export function formatInviteCode(seed: Uint8Array): string {
  return PREFIX + Buffer.concat([seed, checkOf(seed)]).toString('base64url')
}

/** Gives the link of an invite: `mesh://join/CODE`. */
export function formatInviteLink(code: string): string {
  return LINK + code
}

/** Gives the seed of the invite's key, from its code or its link. */
export function parseInviteCode(text: string): Uint8Array {
  const given = text.trim()
  const code = given.startsWith(LINK) ? given.slice(LINK.length) : given
  const bytes = Buffer.from(code.slice(PREFIX.length), 'base64url')
  const seed = bytes.subarray(0, SEED_BYTES)
  const isWhole =
    bytes.length === SEED_BYTES + CHECK_BYTES && checkOf(seed).equals(bytes.subarray(SEED_BYTES))
  if (code.startsWith(PREFIX) && isWhole) return seed
  throw trustError('trust.bad_invite', 'this is no code of an invite', {
    hint: `Copy it whole: it begins with ${PREFIX} and has 60 characters; in a link ${LINK} stands before it. \`mesh admin invite\` makes one.`,
  })
}

function checkOf(seed: Uint8Array): Buffer {
  return createHash('sha256').update('mesh invite code').update(seed).digest().subarray(0, CHECK_BYTES)
}
