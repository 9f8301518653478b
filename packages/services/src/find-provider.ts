import { BUCKETS, type Clock, type PeerId, serviceRecord, tryParsePeerId } from '@mesh/core'
import { furtherProviders } from '@mesh/ledger'
import { MAX_PROVIDERS } from './limits.ts'
import type { ServicesLedger } from './ports.ts'

interface FindComponents {
  readonly ledger: Pick<ServicesLedger, 'snapshot'>
  readonly clock: Pick<Clock, 'now'>
}

/** The peer of the name's entry in `services` or `files`, when it signed that itself and is alive. */
export function findProvider(
  bucket: 'services' | 'files',
  name: string,
  { ledger, clock }: FindComponents,
): PeerId | undefined {
  const snapshot = ledger.snapshot()
  const entry = snapshot.getLive(bucket, name)
  if (entry === undefined) return undefined
  const record = readRecord(entry.value)
  const peer = record === undefined ? undefined : tryParsePeerId(record.PeerID)
  const isOwn = entry.owner === peer || entry.owner === ''
  return peer !== undefined && isOwn && snapshot.isOwnerLive(peer, clock.now()) ? peer : undefined
}

/** All members that are alive and offer the service: the owner of its name first, then those of the bucket `providers`. */
export function findProviders(name: string, components: FindComponents): readonly PeerId[] {
  const owner = findProvider(BUCKETS.services, name, components)
  const peers = new Set<PeerId>(owner === undefined ? [] : [owner])
  const snapshot = components.ledger.snapshot()
  const now = components.clock.now()
  for (const { peer } of furtherProviders(snapshot, { bucket: BUCKETS.services, name, now })) {
    if (peers.size >= MAX_PROVIDERS) break
    peers.add(peer)
  }
  return [...peers]
}

function readRecord(value: string) {
  try {
    return serviceRecord.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}
