/**
 * The ledger's entries as a persistent B+ tree with the key (bucket, key). An update copies one path of small nodes. So an old
 * root stays valid, and a write costs the same at any size. This file reads the tree, `totals-between.ts` sums it up,
 * `tree-edit.ts` changes it.
 */
import type { KeyedEntry } from '../entries/entry.ts'
import type { Position } from '../snapshot.ts'
import { childAt, type Tree } from './tree-node.ts'
import { childFor, comparePositions, lowerBound } from './position-order.ts'

export function treeGet(tree: Tree, position: Position): KeyedEntry | undefined {
  let node = tree
  while (node.children !== undefined) node = childAt(node, childFor(node.firsts, position))
  const at = lowerBound(node.rows, position)
  const row = node.rows[at]
  return row !== undefined && comparePositions(row, position) === 0 ? row : undefined
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
