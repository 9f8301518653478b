/** Entries that this node keeps in the ledger while it runs. */
import type { Ledger } from '@mesh/ledger'
import type { Replicator } from '@mesh/replication'

export interface Announcement {
  readonly bucket: string
  readonly key: string
  /** The value as JSON text. */
  readonly value: string
}

/** @returns takes it back, and resolves when that is in a block */
export function announce(
  { bucket, key, value }: Announcement,
  { ledger, replicator }: { readonly ledger: Ledger; readonly replicator: Replicator },
): () => Promise<void> {
  const stop = replicator.keepAnnounced(bucket, key, () => value)
  return async () => {
    stop()
    if (ledger.snapshot().getLive(bucket, key)?.owner !== ledger.self) return
    await ledger.delete(bucket, key).settled
  }
}
