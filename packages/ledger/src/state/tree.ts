/**
 * The ledger's entries as a persistent ordered tree: a B+ tree keyed by (bucket, key) whose updates copy one path
 * of small nodes, so that an old root stays valid for ever and a write costs the same at any size. This file reads it;
 * `tree-edit.ts` changes it.
 */
import type { KeyedEntry } from '../entries/entry.ts'
import { addLimbs, LIMBS, subtractLimbs } from '../entries/fingerprint.ts'
import type { Position } from './snapshot.ts'
import {
  addRow,
  addTotals,
  childAt,
  childFor,
  comparePositions,
  emptyTree,
  firstOf,
  LIVE,
  lowerBound,
  type Totals,
  type Tree,
} from './tree-node.ts'

export function treeGet(tree: Tree, position: Position): KeyedEntry | undefined {
  let node = tree
  while (node.children !== undefined) node = childAt(node, childFor(node.firsts, position))
  const at = lowerBound(node.rows, position)
  const row = node.rows[at]
  return row !== undefined && comparePositions(row, position) === 0 ? row : undefined
}

/** Totals over the rows before `position`. */
export function totalsBefore(tree: Tree, position: Position): Totals {
  const sums = new Uint32Array(2 * LIMBS)
  let size = 0
  let live = 0
  let node = tree
  while (node.children !== undefined) {
    const index = childFor(node.firsts, position)
    for (const before of node.children.slice(0, index)) {
      size += before.size
      live += before.live
      addTotals(sums, before.sums)
    }
    node = childAt(node, index)
  }
  const end = lowerBound(node.rows, position)
  for (let at = 0; at < end; at++) {
    live += addRow(sums, node.rows[at], node.hashes, at * LIMBS)
  }
  return { size: size + end, live, sums }
}

/** Totals from `from` (inclusive) to `to` (exclusive). */
export function totalsBetween(tree: Tree, from: Position | undefined, to: Position | undefined): Totals {
  if (from !== undefined && to !== undefined && comparePositions(from, to) >= 0) return emptyTree
  const node = from === undefined || to === undefined ? tree : commonNode(tree, from, to)
  const end = to === undefined ? node : totalsBefore(node, to)
  if (from === undefined) return end
  const start = totalsBefore(node, from)
  const sums = end.sums.slice()
  subtractLimbs(sums, 0, start.sums, 0)
  subtractLimbs(sums, LIVE, start.sums, LIVE)
  return { size: end.size - start.size, live: end.live - start.live, sums }
}

/** The lowest node below which both positions lie: what stands before it counts for neither. */
function commonNode(tree: Tree, from: Position, to: Position): Tree {
  let node = tree
  while (node.children !== undefined) {
    const index = childFor(node.firsts, from)
    if (index !== childFor(node.firsts, to)) return node
    node = childAt(node, index)
  }
  return node
}

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

/** The live part of totals' sums. */
export function liveSum(totals: Totals): Uint32Array {
  return totals.sums.subarray(LIVE)
}

export function rowAt(tree: Tree, index: number): KeyedEntry | undefined {
  let node = tree
  let rest = index
  while (node.children !== undefined) {
    const next = node.children.find((child) => {
      if (rest < child.size) return true
      rest -= child.size
      return false
    })
    if (next === undefined) return undefined
    node = next
  }
  return node.rows[rest]
}

/** The rows from `from` (inclusive) in order, leaf by leaf. */
export function* leavesFrom(tree: Tree, from: Position | undefined): Generator<readonly KeyedEntry[]> {
  if (tree.children === undefined) {
    yield from === undefined ? tree.rows : tree.rows.slice(lowerBound(tree.rows, from))
    return
  }
  const start = from === undefined ? 0 : childFor(tree.firsts, from)
  yield* leavesFrom(childAt(tree, start), from)
  for (let at = start + 1; at < tree.children.length; at++) yield* leavesFrom(childAt(tree, at), undefined)
}
