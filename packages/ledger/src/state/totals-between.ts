import { LIMBS, subtractLimbs } from '../entries/fingerprint.ts'
import type { Position } from '../snapshot.ts'
import { addRow, addTotals, childAt, emptyTree, LIVE, type Totals, type Tree } from './tree-node.ts'
import { childFor, comparePositions, lowerBound } from './position-order.ts'

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

/** The live part of totals' sums. */
export function liveSum(totals: Totals): Uint32Array {
  return totals.sums.subarray(LIVE)
}
