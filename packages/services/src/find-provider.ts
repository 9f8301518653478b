import { BUCKETS, type Clock, type PeerId, serviceRecord, tryParsePeerId } from '@mesh/core'
import { furtherProviders } from '@mesh/ledger'
import { MAX_PROVIDERS } from './limits.ts'
import type { ServicesLedger } from './ports.ts'
import type { OfferRules } from './users/offer-rules.ts'

interface FindComponents {
  readonly ledger: Pick<ServicesLedger, 'snapshot'>
  readonly clock: Pick<Clock, 'now'>
  /** Undefined: every member may offer everything. */
  readonly rules?: Pick<OfferRules, 'mayUse'> | undefined
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

/** The members that are alive and offer a service. */
interface ServiceProviders {
  /** Those that access rules let this node use: the owner of the name first, then those of the bucket `providers`. */
  readonly allowed: readonly PeerId[]
  /** True where others offer it, which access rules do not let this node use. */
  readonly areOthersRefused: boolean
}

export function findProviders(name: string, components: FindComponents): ServiceProviders {
  const owner = findProvider(BUCKETS.services, name, components)
  const peers = new Set<PeerId>(owner === undefined ? [] : [owner])
  const snapshot = components.ledger.snapshot()
  const now = components.clock.now()
  for (const { peer } of furtherProviders(snapshot, { bucket: BUCKETS.services, name, now })) {
    if (peers.size >= MAX_PROVIDERS) break
    peers.add(peer)
  }
  const allowed = [...peers].filter((peer) => components.rules?.mayUse(peer, name) ?? true)
  return { allowed, areOthersRefused: allowed.length < peers.size }
}

function readRecord(value: string) {
  try {
    return serviceRecord.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}
