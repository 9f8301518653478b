/** Which buckets are owned, by whom, and when ownership ends (docs/WIRE.md 4.4). Buckets not named are open. */
import { BUCKETS } from '@mesh/core'
import { foldKey } from '../go-json/go-fields.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { JsonScanner } from '../go-json/json-scanner.ts'
import { leaseTtlMs } from '../leases/lease-entry.ts'

/** The rule of one owned bucket. */
export interface BucketPolicy {
  /**
   * Whom a live entry must belong to, from its key and its Value (JSON text); '' is nobody. Without it any signer
   * may claim a free key.
   */
  readonly ownerOf?: (key: string, valueText: string) => string
  /**
   * When others may take an entry: `liveness`, when its owner's heartbeat is older than the liveness window;
   * `absolute`, when its own `UpdatedAt` is; `never`.
   */
  readonly expiry: 'liveness' | 'absolute' | 'never'
  /** The window of an entry with `absolute` expiry, from its Value (JSON text), in ms; default: the liveness window. */
  readonly ttlMs?: (valueText: string) => number
  /**
   * Tells which claim gives way: of two claims of one moment the one whose Value (JSON text) is so gives way
   * to one whose Value is not, whichever came first. Without it the later one gives way.
   */
  readonly yields?: (valueText: string) => boolean
  /**
   * False for a stored entry that this rule would never have taken: it came while the bucket had another rule, and
   * stands in nobody's way.
   */
  readonly isValid?: (keyed: KeyedEntry) => boolean
  /** The group that a key belongs to; undefined for a key that stands for itself, as all do without this. */
  readonly groupOf?: (key: string) => EntryGroup | undefined
}

/**
 * Keys of one bucket of which only so many are held, as anybody can make more. Which ones depends on the keys alone and
 * never on what came first, so that all nodes hold the same.
 */
export interface EntryGroup {
  /** The beginning of the keys of the group, which no other key has. */
  readonly prefix: string
  /** The number of entries that are held: those with the least keys. */
  readonly most: number
  /** Keys of the bucket of which one must be held; until then nothing of the group is taken. */
  readonly needs: readonly string[]
}

/** Bucket name to rule. */
export type PolicyTable = Readonly<Record<string, BucketPolicy>>

/** The owner is named by the Value's `PeerID`. */
export const ownedByValue: BucketPolicy = {
  ownerOf: (_key, valueText) => peerIdInValue(valueText),
  expiry: 'liveness',
}
/** Owned as by `ownedByValue`; a leased address gives way to one that a person gave a machine. */
const machines: BucketPolicy = { ...ownedByValue, yields: isLeased }
/** The key is the owner. */
export const ownedByKey: BucketPolicy = { ownerOf: (key) => key, expiry: 'liveness' }
/** The last word of the key is the owner. */
const ownedByKeyEnd: BucketPolicy = {
  ownerOf: (key) => key.slice(key.lastIndexOf(' ') + 1),
  expiry: 'liveness',
}
/** Who signs first, owns. */
export const ownedBySigner: BucketPolicy = { expiry: 'liveness' }

/** The buckets that all networks know, and ours (`routes`, `identities`, `providers`, `leases`). */
export const defaultPolicies: PolicyTable = {
  machines,
  services: ownedByValue,
  files: ownedByValue,
  routes: ownedByValue,
  users: ownedByKey,
  egress: ownedByKey,
  [BUCKETS.identities]: ownedByKey,
  [BUCKETS.providers]: ownedByKeyEnd,
  [BUCKETS.healthcheck]: { ownerOf: (key) => key, expiry: 'absolute' },
  [BUCKETS.leases]: { ...ownedByValue, expiry: 'absolute', ttlMs: leaseTtlMs },
  dns: ownedBySigner,
}

/** A text member of a JSON object whose name is `PeerID` in any case, the last one as in Go; else ''. */
export function peerIdInValue(valueText: string): string {
  const scanner = new JsonScanner(new TextEncoder().encode(valueText))
  let owner = ''
  try {
    if (scanner.kind() !== 'object') return ''
    const nextField = scanner.openObject()
    for (let field = nextField(); field !== undefined; field = nextField()) {
      if (foldKey(field) !== 'peerid' || scanner.kind() === 'null') scanner.skip(Number.POSITIVE_INFINITY)
      else owner = scanner.string()
    }
    scanner.end()
    return owner
  } catch {
    return ''
  }
}

/** Does a machine's record say that its address is a lease, so that another would do as well? */
function isLeased(valueText: string): boolean {
  try {
    const record: unknown = JSON.parse(valueText)
    return typeof record === 'object' && record !== null && 'Leased' in record && record.Leased === true
  } catch {
    return false
  }
}

/** Who holds a stored entry: its signer, or for an unsigned one of a legacy member whom the rule implies. */
export function holderOf(policy: BucketPolicy | undefined, key: string, entry: Entry): string {
  if (entry.owner !== '' || policy?.ownerOf === undefined) return entry.owner
  return policy.ownerOf(key, entry.value)
}
