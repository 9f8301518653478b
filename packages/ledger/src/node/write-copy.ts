/** Writes what a ledger holds in memory into a file of its own, with other work in between. */
import { type Clock, delay } from '@mesh/core'
import type { KeyedEntry } from '../entries/entry.ts'
import { REST_MS, SLICE_MS } from '../limits.ts'
import type { StoreBatch, StoredLedger } from '../state/store.ts'
import { openDiskStore } from './disk-store.ts'

/** How many entries are put together before the time is looked at. */
const ENTRIES_AT_ONCE = 64

/**
 * Writes a store into an empty file. It is whole when the promise resolves, and must be verified then.
 * @throws MeshError `ledger.store_failed`; the signal's reason
 */
export async function writeCopy(
  path: string,
  { head, fingerprint, entries, pruned }: StoredLedger,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const store = openDiskStore({ path })
  const put = (puts: readonly KeyedEntry[], more: Pick<StoreBatch, 'pruned'> = { pruned: [] }) =>
    store.commit({ head, fingerprint, puts, removes: [], forgotten: [], ...more })
  try {
    put([], { pruned })
    let sliceStartMs = clock.monotonic()
    for (const puts of chunks(entries)) {
      put(puts)
      if (clock.monotonic() - sliceStartMs < SLICE_MS) continue
      await delay(clock, REST_MS, signal)
      sliceStartMs = clock.monotonic()
    }
  } finally {
    store.close()
  }
}

function* chunks(entries: Iterable<KeyedEntry>): Generator<readonly KeyedEntry[]> {
  let chunk: KeyedEntry[] = []
  for (const entry of entries) {
    if (chunk.push(entry) < ENTRIES_AT_ONCE) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
