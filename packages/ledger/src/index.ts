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
export { genesisHead, hashByDigest, hashByPrint } from './blocks/block-hash.ts'
export { canonicalBytes } from './entries/canonical.ts'
export { createLedger } from './create-ledger.ts'
export { decodeEntries } from './blocks/decode-block.ts'
export { encodeBlock, encodeEntry } from './blocks/encode-block.ts'
export type { Entry, KeyedEntry } from './entries/entry.ts'
export { comparePositions } from './state/position-order.ts'
export { entryHash } from './entries/fingerprint.ts'
export { createLeases, type Leases, type LeaseStatus, type TakeLease } from './leases/leases.ts'
export type { Lease } from './leases/held-lease.ts'
export { isVersionAhead } from './entries/version.ts'
export { leaderOf } from './rules/leader.ts'
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
export type { LedgerComponents, LedgerInit } from './ledger-init.ts'
export { defaultLedgerLimits, type LedgerLimits } from './limits.ts'
export { heartbeatTime } from './state/liveness.ts'
export { createOwners, type Owners, type OwnersInit } from './rules/owners.ts'
export {
  type BucketPolicy,
  type EntryGroup,
  defaultPolicies,
  ownedByKey,
  ownedBySigner,
  ownedByValue,
  type PolicyTable,
} from './rules/policy.ts'
export {
  announceProvided,
  furtherProviders,
  type ProvidedName,
  type ProvidedNameComponents,
} from './provided-name.ts'
export { createSigner, type Signer, type Verify, verifySignature } from './entries/signer.ts'
export type {
  BlockHead,
  LedgerDigest,
  Position,
  PositionRange,
  RangeSummary,
  Snapshot,
} from './snapshot.ts'
export {
  type PrunedTombstone,
  createMemoryStore,
  type Store,
  type StoreBatch,
  type StoredLedger,
  type StoreErrorCode,
} from './state/store.ts'
export type { StoreFailure } from './state/watched-store.ts'
