/** Is a copy of a ledger's file what was written? Reads all of it, with other work in between. */
import { DatabaseSync } from 'node:sqlite'
import { type Clock, delay, MeshError } from '@mesh/core'
import { canonicalBytesWithSig } from '../entries/canonical.ts'
import { addLimbs, hashLimbs, LIMBS, limbsToHex } from '../entries/fingerprint.ts'
import { SLICE_MS } from '../limits.ts'
import type { StoreErrorCode } from '../state/store.ts'
import { translating } from './store-errors.ts'
import { readStoredHead, storedEntries } from './stored-rows.ts'

/** Between the slices of checking this long is left to other work, in ms. */
const REST_MS = 4 * SLICE_MS

/**
 * Resolves when the entries of the copy are those that its fingerprint was made of.
 * @throws MeshError `ledger.store_damaged`, `ledger.store_failed`; the signal's reason
 */
export async function verifyCopy(path: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const database = translating(path, () => new DatabaseSync(path, { timeout: 0 }))
  try {
    // no log files stay beside it
    translating(path, () => database.exec('PRAGMA locking_mode = EXCLUSIVE'))
    const head = translating(path, () => readStoredHead(database))
    const sum = new Uint32Array(LIMBS)
    const rows = translating(path, () => storedEntries(database))
    let sliceStartMs = clock.monotonic()
    for (;;) {
      const { done, value } = translating(path, () => rows.next())
      if (done === true) break
      addLimbs(sum, 0, hashLimbs(canonicalBytesWithSig(value).bytes), 0)
      if (clock.monotonic() - sliceStartMs < SLICE_MS) continue
      await delay(clock, REST_MS, signal)
      sliceStartMs = clock.monotonic()
    }
    if (head !== undefined && limbsToHex(sum) !== head.fingerprint) throw notWhatWasWritten(path)
  } finally {
    database.close()
  }
}

function notWhatWasWritten(path: string): MeshError<StoreErrorCode> {
  return new MeshError('ledger.store_damaged', `${path} does not hold what was written`, {
    details: { location: path, isBroken: true },
  })
}
