/** Who stands in the bucket `trustzone`: pure, from a snapshot. */
import { BUCKETS, type PeerId, tryParsePeerId } from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'

type Entries = Pick<Snapshot, 'entries'>

/** Keeps of each entry whether its key names a peer: the bucket may hold a hundred thousand, and is read with each change. */
const peers = new WeakMap<Entry, boolean>()

/**
 * Gives the trusted peers. With `strict` an entry counts only when this node wrote it, or a peer that counts did: the
 * bucket is open, and without that whoever is heard can add anybody.
 */
export function readTrustList(
  snapshot: Entries,
  { self, strict }: { readonly self: PeerId; readonly strict: boolean },
): ReadonlySet<string> {
  const owners = new Map<string, string>()
  for (const { key, entry } of snapshot.entries(BUCKETS.trustzone)) {
    if (entry.deleted) continue
    let isPeer = peers.get(entry)
    if (isPeer === undefined) peers.set(entry, (isPeer = tryParsePeerId(key) !== undefined))
    if (isPeer) owners.set(key, entry.owner)
  }
  if (!strict) return new Set(owners.keys())
  const byOwner = Map.groupBy(owners.keys(), (peer) => owners.get(peer) ?? '')
  const trusted = new Set<string>()
  const waiting: string[] = [self]
  for (let owner = waiting.pop(); owner !== undefined; owner = waiting.pop()) {
    for (const peer of byOwner.get(owner) ?? []) {
      if (trusted.has(peer)) continue
      trusted.add(peer)
      waiting.push(peer)
    }
  }
  return trusted
}
