/** The settings and the parts that a ledger is made of. */
import type { Clock, Logger } from '@mesh/core'
import type { KeyedEntry } from './entries/entry.ts'
import type { Signer, Verify } from './entries/signer.ts'
import type { OwnershipMode } from './ledger.ts'
import type { LedgerLimits } from './limits.ts'
import type { PolicyTable } from './rules/policy.ts'
import type { Store } from './state/store.ts'

export interface LedgerInit {
  /** The rule of ownership; `enforce` by default. */
  readonly mode?: OwnershipMode
  /** Owned buckets; default `defaultPolicies`. To add one: `{ ...defaultPolicies, notes: ownedByKey }`. */
  readonly policies?: PolicyTable
  /** How long a heartbeat keeps its owner's entries; default 480 s. */
  readonly livenessMs?: number
  /** Age at which tombstones are collected; default 2700 s. */
  readonly tombstoneTtlMs?: number
  /** Bounds that differ from `defaultLedgerLimits`. */
  readonly limits?: Partial<LedgerLimits>
}

export interface LedgerComponents {
  /** Signs as this node; its peer id is `ledger.self`. */
  readonly signer: Signer
  /** Default: plain JavaScript; `createNodeVerifier` of `@mesh/ledger/node` is ten times faster there. */
  readonly verify?: Verify
  readonly clock?: Clock
  /** Default: memory only. Closed by `stop`. */
  readonly store?: Store
  readonly logger?: Logger
  /**
   * False for owners whose entries are refused (`GATED`), and who count as not alive in snapshots. `bucket` is
   * undefined where it is asked about the owner as such. `held` is given where a member shows that it holds this entry,
   * in a comparison: what was written while its owner was let in may be taken from it.
   * `Ledger.admissionChanged` says that answers changed.
   */
  readonly admits?: (owner: string, bucket?: string, held?: KeyedEntry) => boolean
}
