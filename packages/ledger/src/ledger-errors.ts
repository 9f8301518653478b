/** Errors of a ledger that cannot take a write, beside the rules (`local-write.ts`). */
import { MeshError } from '@mesh/core'
import type { LedgerErrorCode } from './ledger.ts'
import type { Position } from './snapshot.ts'
import { isDamage } from './state/store.ts'

export function stopped(): MeshError<LedgerErrorCode> {
  return new MeshError('ledger.stopped', 'the ledger has been stopped')
}

export function overQuota({ bucket, key }: Position): MeshError<LedgerErrorCode> {
  return new MeshError(
    'ledger.over_quota',
    `no room for ${bucket}/${key}: the ledger or this node's part of it is full`,
    { hint: 'Delete entries that are no longer needed.', details: { bucket, key } },
  )
}

export function notStored(cause: unknown): MeshError<LedgerErrorCode> {
  return new MeshError('ledger.store_failed', 'the ledger could not be stored', {
    hint: isDamage(cause)
      ? 'Its file is damaged: start the node again, which takes a sound copy of it.'
      : 'Check the disk of the state directory: is it full or read-only?',
    cause,
  })
}
