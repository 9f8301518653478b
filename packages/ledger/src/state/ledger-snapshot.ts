/** A snapshot: one root of the tree and the block it belongs to. What is costly is computed once, when asked. */
import { BUCKETS } from '@mesh/core'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { LIMBS, limbsToBytes, limbsToHex, subtractLimbs } from '../entries/fingerprint.ts'
import { isLiveAt } from './liveness.ts'
import type { BlockHead, LedgerDigest, Position, PositionRange, RangeSummary, Snapshot } from '../snapshot.ts'
import { leavesFrom, rowAt, treeGet } from './tree.ts'
import { liveSum, totalsBefore, totalsBetween } from './totals-between.ts'
import { type BucketTotals, bucketTotals } from './bucket-totals.ts'
import { type Tree } from './tree-node.ts'
import { comparePositions } from './position-order.ts'

interface SnapshotInit {
  readonly head: BlockHead
  readonly tree: Tree
  /** Undefined when ownership is off: then everyone counts as alive. */
  readonly livenessMs: number | undefined
  readonly admits: (owner: string) => boolean
}

export class TreeSnapshot implements Snapshot {
  readonly head: BlockHead
  readonly #tree: Tree
  readonly #livenessMs: number | undefined
  readonly #admits: (owner: string) => boolean
  #buckets: readonly string[] | undefined
  #digest: LedgerDigest | undefined
  #bucketTotals: ReadonlyMap<string, BucketTotals> | undefined

  constructor({ head, tree, livenessMs, admits }: SnapshotInit) {
    this.head = head
    this.#tree = tree
    this.#livenessMs = livenessMs
    this.#admits = admits
  }

  get size(): number {
    return this.#tree.size
  }

  get(bucket: string, key: string): Entry | undefined {
    return treeGet(this.#tree, { bucket, key })?.entry
  }

  getLive(bucket: string, key: string): Entry | undefined {
    const entry = this.get(bucket, key)
    return entry?.deleted === false ? entry : undefined
  }

  buckets(): readonly string[] {
    this.#buckets ??= Object.freeze([...this.#totals().keys()])
    return this.#buckets
  }

  count(bucket: string): number {
    return totalsOfBucket(this.#tree, bucket).live
  }

  entries(bucket?: string): Iterable<KeyedEntry> {
    return this.entriesIn(bucket === undefined ? { from: undefined, to: undefined } : rangeOfBucket(bucket))
  }

  entriesIn({ from, to }: PositionRange): Iterable<KeyedEntry> {
    const tree = this.#tree
    return { [Symbol.iterator]: () => rowsBetween(tree, from, to) }
  }

  summarize({ from, to }: PositionRange): RangeSummary {
    const totals = totalsBetween(this.#tree, from, to)
    return { count: totals.size, fingerprint: limbsToBytes(totals.sums) }
  }

  positionAt({ from, to }: PositionRange, index: number): Position | undefined {
    if (index < 0) return undefined
    const start = from === undefined ? 0 : totalsBefore(this.#tree, from).size
    const row = rowAt(this.#tree, start + index)
    if (row === undefined || (to !== undefined && comparePositions(row, to) >= 0)) return undefined
    return { bucket: row.bucket, key: row.key }
  }

  bucketDigest(bucket: string): string {
    return limbsToHex(liveSum(totalsOfBucket(this.#tree, bucket)))
  }

  digest(): LedgerDigest {
    this.#digest ??= buildDigest(this.#tree, () => this.#totals())
    return this.#digest
  }

  /** Counts the entries of each bucket that has a live one, in order. */
  #totals(): ReadonlyMap<string, BucketTotals> {
    this.#bucketTotals ??= new Map([...bucketTotals(this.#tree)].filter(([, { live }]) => live > 0))
    return this.#bucketTotals
  }

  isOwnerLive(owner: string, nowMs: number): boolean {
    if (!this.#admits(owner)) return false
    return this.#livenessMs === undefined || isLiveAt(this.#tree, owner, nowMs, this.#livenessMs)
  }
}

/** The digest of all live entries but heartbeats: hexadecimal sum of their hashes. O(log n). */
export function digestOf(tree: Tree): { entries: number; digest: string } {
  const health = totalsOfBucket(tree, BUCKETS.healthcheck)
  const sum = liveSum(tree).slice(0, LIMBS)
  subtractLimbs(sum, 0, liveSum(health), 0)
  return { entries: tree.live - health.live, digest: limbsToHex(sum) }
}

/** The digests of the buckets are computed when they are asked for: most compare the whole alone. */
function buildDigest(tree: Tree, totals: () => ReadonlyMap<string, BucketTotals>): LedgerDigest {
  let buckets: Readonly<Record<string, string>> | undefined
  return Object.freeze({
    ...digestOf(tree),
    get buckets() {
      buckets ??= digestBuckets(totals())
      return buckets
    },
  })
}

function digestBuckets(totals: ReadonlyMap<string, BucketTotals>): Readonly<Record<string, string>> {
  const digests: [string, string][] = []
  for (const [name, { sum }] of totals) {
    if (name !== BUCKETS.healthcheck) digests.push([name, limbsToHex(sum)])
  }
  // fromEntries defines properties, so that a bucket named __proto__ is one like any other.
  return Object.freeze(Object.fromEntries(digests))
}

function totalsOfBucket(tree: Tree, bucket: string) {
  const { from, to } = rangeOfBucket(bucket)
  return totalsBetween(tree, from, to)
}

function rangeOfBucket(bucket: string): { from: Position; to: Position } {
  return { from: { bucket, key: '' }, to: afterBucket(bucket) }
}

/** The first possible position behind a bucket: no text lies between a name and the name with U+0000 behind it. */
function afterBucket(bucket: string): Position {
  return { bucket: `${bucket}\0`, key: '' }
}

function* rowsBetween(
  tree: Tree,
  from: Position | undefined,
  to: Position | undefined,
): Generator<KeyedEntry> {
  for (const rows of leavesFrom(tree, from)) {
    for (const row of rows) {
      if (to !== undefined && comparePositions(row, to) >= 0) return
      yield row
    }
  }
}
