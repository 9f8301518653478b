/**
 * A small ledger that its members keep together: signed, owned, expiring entries by bucket and key. Browser-safe;
 * `@mesh/ledger/node` adds a store on disk and faster cryptography.
 *
 * @example
 * ```ts
 * import { createLedger, createSigner, defaultPolicies, ownedBySigner } from '@mesh/ledger'
 * const signer = createSigner(crypto.getRandomValues(new Uint8Array(32)))
 * const ledger = createLedger({ policies: { ...defaultPolicies, notes: ownedBySigner } }, { signer })
 * await ledger.put('notes', 'hello', JSON.stringify('world')).settled
 * console.log(ledger.snapshot().getLive('notes', 'hello')?.value)
 * ```
 */
export { genesisHead, hashByDigest, hashByPrint } from './block-hash.ts'
export { canonicalBytes } from './canonical.ts'
export { createLedger, type LedgerComponents, type LedgerInit } from './create-ledger.ts'
export { decodeEntries } from './decode-block.ts'
export { encodeBlock, encodeEntry } from './encode-block.ts'
export type { Entry, KeyedEntry } from './entry.ts'
export { entryHash } from './entry-hash.ts'
export { leaderOf } from './leader.ts'
export type {
  BucketDelete,
  Change,
  Ledger,
  LedgerErrorCode,
  LedgerEvent,
  MergeResult,
  OwnershipMode,
  ReapResult,
  RejectionCode,
  Write,
  WriteOutcome,
} from './ledger.ts'
export { defaultLedgerLimits, type LedgerLimits } from './limits.ts'
export { createOwners, type Owners, type OwnersInit } from './owners.ts'
export {
  type BucketPolicy,
  defaultPolicies,
  ownedByKey,
  ownedBySigner,
  ownedByValue,
  type PolicyTable,
} from './policy.ts'
export { createSigner, type Signer, type Verify, verifySignature } from './signer.ts'
export type {
  BlockHead,
  LedgerDigest,
  Position,
  PositionRange,
  RangeSummary,
  Snapshot,
} from './snapshot.ts'
export {
  type Burial,
  createMemoryStore,
  type Store,
  type StoreBatch,
  type StoredLedger,
  type StoreErrorCode,
} from './store.ts'
