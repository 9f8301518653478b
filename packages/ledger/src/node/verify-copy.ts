/** Is a copy of a ledger's file what was written, and will it open? Reads all of it, with other work in between. */
import { DatabaseSync } from 'node:sqlite'
import { type Clock, delay, MeshError } from '@mesh/core'
import { addLimbs, entryLimbs, LIMBS, limbsToHex } from '../entries/fingerprint.ts'
import { REST_MS, SLICE_MS } from '../limits.ts'
import type { StoreErrorCode } from '../state/store.ts'
import { translating } from './store-errors.ts'
import { checkStructure, readStoredHead, storedEntries } from './stored-rows.ts'

/**
 * Resolves when the entries of the copy are those that its fingerprint was made of.
 *
 * @param original the file that it was made of: errors tell of that
 * @throws MeshError `ledger.store_damaged`, `ledger.store_failed`; the signal's reason
 */
export async function verifyCopy(
  path: string,
  original: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const database = translating(original, () => new DatabaseSync(path, { timeout: 0 }))
  try {
    // no log files stay beside it
    translating(original, () => database.exec('PRAGMA locking_mode = EXCLUSIVE'))
    const head = translating(original, () => readStoredHead(database))
    const sum = new Uint32Array(LIMBS)
    const rows = translating(original, () => storedEntries(database))
    let sliceStartMs = clock.monotonic()
    for (;;) {
      const { done, value } = translating(original, () => rows.next())
      if (done === true) break
      addLimbs(sum, 0, entryLimbs(value), 0)
      if (clock.monotonic() - sliceStartMs < SLICE_MS) continue
      await delay(clock, REST_MS, signal)
      sliceStartMs = clock.monotonic()
    }
    if (head !== undefined && limbsToHex(sum) !== head.fingerprint) throw notWhatWasWritten(original)
    // what holds no entry was not read: a broken list of free pages alone would keep the copy from being opened
    translating(original, () => checkStructure(database))
  } finally {
    database.close()
  }
}

function notWhatWasWritten(path: string): MeshError<StoreErrorCode> {
  return new MeshError('ledger.store_damaged', `${path} does not hold what was written`, {
    details: { location: path, isBroken: true },
  })
}
