/** Checking here, in the reader's browser, that an entry is what its owner signed. */
import type { SignedEntryView } from '@mesh/api-contract'
import { tryParsePeerId } from '@mesh/core'
import { canonicalBytes, verifySignature } from '@mesh/ledger'

export type SignatureCheck = 'verified' | 'wrong' | 'unsigned'

interface EntryAt {
  readonly bucket: string
  readonly key: string
  readonly signed: SignedEntryView
}

export function checkSignature({ bucket, key, signed }: EntryAt): SignatureCheck {
  if (signed.Sig === null && signed.Owner === '') return 'unsigned'
  const owner = tryParsePeerId(signed.Owner)
  const sig = signed.Sig === null ? undefined : decodeBase64(signed.Sig)
  if (owner === undefined || sig === undefined) return 'wrong'
  const { Value: value, Version: version, UpdatedAt: updatedAt, Deleted: deleted } = signed
  const entry = { value, owner, version, updatedAt, deleted, sig }
  return verifySignature(owner, canonicalBytes({ bucket, key, entry }), sig) ? 'verified' : 'wrong'
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
