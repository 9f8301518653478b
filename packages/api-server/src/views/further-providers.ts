/** Who else offers a name, or routes a network, beside the owner of its key. Pure. */
import { BUCKETS, parseProviderKey, providerPrefix } from '@mesh/core'
import { MAX_SHOWN_PROVIDERS } from '../limits.ts'
import type { Scene } from './members.ts'

/** Lists the live members that told of themselves in `providers` for a key of the bucket; a bounded number. */
export function furtherProviders(
  { snapshot, now }: Pick<Scene, 'snapshot' | 'now'>,
  bucket: string,
  name: string,
): readonly string[] {
  const prefix = providerPrefix(bucket, name)
  const from = { bucket: BUCKETS.providers, key: prefix }
  const to = { bucket: BUCKETS.providers, key: `${prefix}\uffff` }
  const peers: string[] = []
  for (const { key, entry } of snapshot.entriesIn({ from, to })) {
    if (peers.length >= MAX_SHOWN_PROVIDERS) break
    const peer = entry.deleted ? undefined : parseProviderKey(key)?.peer
    if (peer !== undefined && snapshot.isOwnerLive(peer, now)) peers.push(peer)
  }
  return peers
}
