/**
 * The ledger as a program sees it: values in place of JSON text, and changes as an async iterator.
 *
 * @example
 * ```ts
 * import { systemRandom } from '@mesh/core'
 * import { createLedger, createSigner } from '@mesh/ledger'
 * import { LedgerValues } from '@mesh/ledger/values'
 *
 * const closed = new AbortController()
 * const ledger = createLedger({}, { signer: createSigner(systemRandom.bytes(32)) })
 * const values = new LedgerValues(ledger, { closed: closed.signal })
 * await values.put('jobs', 'a', { state: 'waiting' })
 * console.log(values.get('jobs', 'a'))
 * closed.abort(new Error('done'))
 * await ledger.stop()
 * ```
 */
export type { MeshChange, MeshEntry } from './values/entry-values.ts'
export { LedgerValues, type MeshLedger, type Waiting, type WatchInit } from './values/ledger-values.ts'
