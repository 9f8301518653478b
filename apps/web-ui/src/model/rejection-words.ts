import type { RejectionCode } from '@mesh/ledger'

/** Why an entry was refused, without jargon; codes of newer nodes as they are. */
export function rejectionInWords(code: string): string {
  return Object.hasOwn(WORDS, code) ? WORDS[code as RejectionCode] : code
}

const WORDS: Record<RejectionCode, string> = {
  BAD_SIG: 'the signature is wrong',
  UNSIGNED: 'nobody signed it',
  TOMB_UNKNOWN: 'deletes what nobody knows',
  TOMB_NOT_OWNER: 'only the owner may delete it',
  TOMB_STALE: 'the deletion is older than the entry',
  OWNER_MISMATCH: 'names another owner than its signer',
  RECLAIM_STALE: 'older than what was deleted',
  NOT_OWNER: 'owned by another member',
  ROLLBACK: 'older than what is known',
  TIE_LOST: 'another write of the same moment won',
  FUTURE: 'from the future',
  TOO_LARGE: 'too large',
  MALFORMED: 'cannot be read',
  QUOTA: 'its signer has no room left',
  REPLAYED: 'was deleted before',
  GATED: 'its author is not let in',
  NOT_YET: 'needs what is not known yet',
}
