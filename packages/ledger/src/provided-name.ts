/**
 * A name that several members may offer: a service, or a network that they route. One of them owns the key of the name.
 * The others tell of themselves beside it, in `providers`. When the owner's lease ends, one of the others takes the key.
 */
import { BUCKETS, type Clock, parseProviderKey, type PeerId, providerKey, providerPrefix } from '@mesh/core'
import type { Ledger } from './ledger.ts'
import { MAX_PROVIDER_ENTRIES } from './limits.ts'
import type { Entry } from './entries/entry.ts'
import { peerIdInValue } from './rules/policy.ts'
import type { Snapshot } from './snapshot.ts'

/** A name that this node offers. */
export interface ProvidedName {
  /** The bucket in which the name is a key. */
  readonly bucket: string
  readonly name: string
  /** JSON text that names this node in `PeerID`; asked for each time that it is written. */
  readonly valueText: () => string
}

export interface ProvidedNameComponents {
  readonly ledger: Pick<Ledger, 'self' | 'snapshot' | 'delete' | 'subscribe'>
  /** Keeps an owned entry in the ledger, as the replicator's `keepAnnounced` does; the returned function stops it. */
  readonly announce: (bucket: string, key: string, valueText: () => string) => () => void
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Keeps a name announced: as the owner of its key, or beside the live member that owns it. The returned function ends
 * that, and resolves when its end is written; it never rejects.
 */
export function announceProvided(
  { bucket, name, valueText }: ProvidedName,
  { ledger, announce, clock }: ProvidedNameComponents,
): () => Promise<void> {
  const further = providerKey({ bucket, name, peer: ledger.self as PeerId })
  let stopFurther: (() => void) | undefined
  let isOver = false

  const look = () => {
    if (isOver) return
    const holder = holderIn(ledger.snapshot(), { bucket, name, now: clock.now() })
    if (holder === ledger.self) void endFurther()
    else if (holder !== undefined) stopFurther ??= announce(BUCKETS.providers, further, valueText)
  }
  const endFurther = async () => {
    stopFurther?.()
    stopFurther = undefined
    if (ledger.snapshot().getLive(BUCKETS.providers, further) !== undefined)
      await end(ledger, BUCKETS.providers, further)
  }
  const unsubscribe = ledger.subscribe((event) => {
    if (event.type !== 'committed') return
    const concerns = event.changes.some((change) => change.bucket === bucket && change.key === name)
    // after the commit: a write from inside its own event would be one too deep
    if (concerns) queueMicrotask(look)
  })
  const stopOwn = announce(bucket, name, valueText)
  look()
  return async () => {
    isOver = true
    unsubscribe()
    stopOwn()
    // what is still held is superseded by this
    await Promise.all([endFurther(), end(ledger, bucket, name)])
  }
}

async function end(ledger: Pick<Ledger, 'delete'>, bucket: string, key: string): Promise<void> {
  try {
    await ledger.delete(bucket, key).settled
  } catch {
    // another member's by now
  }
}

/** A name whose providers somebody asks for. */
interface AskedName {
  readonly bucket: string
  readonly name: string
  /** Unix time in ms. */
  readonly now: number
}

/** The live members that tell of themselves in `providers` for a name, with their entries; of many entries the first ones. */
export function* furtherProviders(
  snapshot: Pick<Snapshot, 'entriesIn' | 'isOwnerLive'>,
  { bucket, name, now }: AskedName,
): Generator<{ readonly peer: PeerId; readonly entry: Entry }> {
  const prefix = providerPrefix(bucket, name)
  const from = { bucket: BUCKETS.providers, key: prefix }
  const to = { bucket: BUCKETS.providers, key: `${prefix}\uffff` }
  let looked = 0
  for (const { key, entry } of snapshot.entriesIn({ from, to })) {
    if (++looked > MAX_PROVIDER_ENTRIES) return
    const peer = entry.deleted ? undefined : parseProviderKey(key)?.peer
    if (peer === undefined || (entry.owner !== peer && entry.owner !== '')) continue
    if (snapshot.isOwnerLive(peer, now)) yield { peer, entry }
  }
}

/** The live owner of the name's key; undefined: nobody. */
function holderIn(snapshot: Snapshot, { bucket, name, now }: AskedName): string | undefined {
  const entry = snapshot.getLive(bucket, name)
  const owner = entry === undefined || entry.owner !== '' ? entry?.owner : peerIdInValue(entry.value)
  return owner !== undefined && snapshot.isOwnerLive(owner, now) ? owner : undefined
}
