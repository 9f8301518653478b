import { addLimbs, LIMBS } from '../entries/fingerprint.ts'
import { firstOf, LIVE, type Tree } from './tree-node.ts'

/** How many live entries each bucket has, and the sum of their hashes. The cost is of the number of buckets. */
export function bucketTotals(tree: Tree): Map<string, BucketTotals> {
  const buckets = new Map<string, BucketTotals>()
  if (tree.size > 0) addBuckets(tree, undefined, buckets)
  return buckets
}

export interface BucketTotals {
  live: number
  /** Limbs of the sum over the live entries. */
  readonly sum: Uint32Array
}

/** @param next the bucket of the first entry behind the node */
function addBuckets(node: Tree, next: string | undefined, buckets: Map<string, BucketTotals>): void {
  const { bucket } = firstOf(node)
  if (bucket === next) return addBucket(buckets, bucket, { live: node.live, sums: node.sums, at: LIVE })
  if (node.children !== undefined) {
    node.children.forEach((child, at) => addBuckets(child, node.firsts[at + 1]?.bucket ?? next, buckets))
    return
  }
  node.rows.forEach((row, at) => {
    if (!row.entry.deleted) addBucket(buckets, row.bucket, { live: 1, sums: node.hashes, at: at * LIMBS })
  })
}

function addBucket(
  buckets: Map<string, BucketTotals>,
  name: string,
  more: { readonly live: number; readonly sums: Uint32Array; readonly at: number },
): void {
  const totals = buckets.get(name) ?? { live: 0, sum: new Uint32Array(LIMBS) }
  totals.live += more.live
  addLimbs(totals.sum, 0, more.sums, more.at)
  buckets.set(name, totals)
}
