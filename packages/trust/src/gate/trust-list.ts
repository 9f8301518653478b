/** Who stands in the bucket `trustzone`, and which keys stand in `trustzoneAuth`: pure, from a snapshot. */
import type { KeyObject } from 'node:crypto'
import { BUCKETS, type PeerId, tryParsePeerId } from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'
import { tryParsePublicKey } from '../legacy/ecdsa-keys.ts'
import { AUTH_KEYS_READ_AT_ONCE, ECDSA_KEY_MARK, MAX_AUTH_KEYS } from '../limits.ts'

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

const parsed = new WeakMap<Entry, KeyObject | undefined>()

/**
 * Gives the public keys, at most `MAX_AUTH_KEYS`; what is none is passed over. The bucket is open: of entries that were not read
 * before few are read at a time, and those behind them with the next question.
 */
export function readAuthKeys(snapshot: Entries): readonly KeyObject[] {
  const keys: KeyObject[] = []
  let read = 0
  for (const { key, entry } of snapshot.entries(BUCKETS.trustzoneAuth)) {
    if (entry.deleted || !key.includes(ECDSA_KEY_MARK)) continue
    if (!parsed.has(entry)) {
      if (read++ === AUTH_KEYS_READ_AT_ONCE) break
      parsed.set(entry, tryParsePublicKey(textOf(entry)))
    }
    const found = parsed.get(entry)
    if (found !== undefined && keys.push(found) === MAX_AUTH_KEYS) break
  }
  return keys
}

function textOf({ value }: Entry): string {
  try {
    const text: unknown = JSON.parse(value)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}
