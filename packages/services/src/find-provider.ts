import { type Clock, type PeerId, serviceRecord, tryParsePeerId } from '@mesh/core'
import type { ServicesLedger } from './ports.ts'

/** The peer of the name's entry in `services` or `files`, when it signed that itself and is alive. */
export function findProvider(
  bucket: 'services' | 'files',
  name: string,
  { ledger, clock }: { readonly ledger: ServicesLedger; readonly clock: Clock },
): PeerId | undefined {
  const snapshot = ledger.snapshot()
  const entry = snapshot.getLive(bucket, name)
  if (entry === undefined) return undefined
  const record = readRecord(entry.value)
  const peer = record === undefined ? undefined : tryParsePeerId(record.PeerID)
  const isOwn = entry.owner === peer || entry.owner === ''
  return peer !== undefined && isOwn && snapshot.isOwnerLive(peer, clock.now()) ? peer : undefined
}

function readRecord(value: string) {
  try {
    return serviceRecord.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}
