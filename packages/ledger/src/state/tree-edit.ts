/** Changes of the ledger's tree: each copies one path of small nodes and leaves the tree before it as it is. */
import type { KeyedEntry } from '../entries/entry.ts'
import { LIMBS, subtractLimbs } from '../entries/fingerprint.ts'
import type { Position } from '../snapshot.ts'
import {
  addRow,
  addTotals,
  buildInner,
  buildLeaf,
  childAt,
  emptyTree,
  firstOf,
  type Inner,
  type Leaf,
  LIVE,
  MAX_WIDTH,
  MIN_WIDTH,
  type Tree,
} from './tree-node.ts'
import { childFor, comparePositions, lowerBound } from './position-order.ts'

/** The tree with this row in the place of what had its position. `hash`: the row's limbs. */
export function treeSet(tree: Tree, row: KeyedEntry, hash: Uint32Array): Tree {
  const [left, right] = setIn(tree, row, hash)
  return right === undefined ? left : buildInner([left, right])
}

/** The tree without the row of that position. */
export function treeDelete(tree: Tree, position: Position): Tree {
  const rest = deleteIn(tree, position)
  return rest.children?.length === 1 ? (rest.children[0] ?? rest) : rest
}

/** Builds a tree from rows in order, without one write for each. */
export function treeFrom(rows: readonly KeyedEntry[], hashOf: (row: KeyedEntry) => Uint32Array): Tree {
  const width = MAX_WIDTH - MIN_WIDTH
  let level: Tree[] = []
  for (const part of chunks(rows, width)) {
    const hashes = new Uint32Array(part.length * LIMBS)
    part.forEach((row, at) => hashes.set(hashOf(row), at * LIMBS))
    level.push(buildLeaf(part, hashes))
  }
  while (level.length > 1) level = chunks(level, width).map(buildInner)
  return level[0] ?? emptyTree
}

function setIn(node: Tree, row: KeyedEntry, hash: Uint32Array): [Tree, Tree?] {
  if (node.children === undefined) return setInLeaf(node, row, hash)
  const index = childFor(node.firsts, row)
  const before = childAt(node, index)
  const [left, right] = setIn(before, row, hash)
  if (right === undefined) return [withChild(node, index, before, left)]
  const children = node.children.toSpliced(index, 1, left, right)
  if (children.length <= MAX_WIDTH) return [buildInner(children)]
  const cut = splitPoint(children.length, index)
  return [buildInner(children.slice(0, cut)), buildInner(children.slice(cut))]
}

function setInLeaf(leaf: Leaf, row: KeyedEntry, hash: Uint32Array): [Tree, Tree?] {
  const at = lowerBound(leaf.rows, row)
  const present = leaf.rows[at]
  const replaces = present !== undefined && comparePositions(present, row) === 0
  if (replaces) return [withRow(leaf, at, present, row, hash)]
  const rows = leaf.rows.toSpliced(at, 0, row)
  const hashes = new Uint32Array(rows.length * LIMBS)
  hashes.set(leaf.hashes)
  hashes.copyWithin((at + 1) * LIMBS, at * LIMBS, leaf.hashes.length)
  hashes.set(hash, at * LIMBS)
  if (rows.length <= MAX_WIDTH) {
    const sums = leaf.sums.slice()
    const live = leaf.live + addRow(sums, row, hash, 0)
    return [{ size: rows.length, live, sums, rows, hashes }]
  }
  const cut = splitPoint(rows.length, at)
  return [
    buildLeaf(rows.slice(0, cut), hashes.slice(0, cut * LIMBS)),
    buildLeaf(rows.slice(cut), hashes.slice(cut * LIMBS)),
  ]
}

/** The leaf with another row in the place of `before`. */
function withRow(leaf: Leaf, at: number, before: KeyedEntry, row: KeyedEntry, hash: Uint32Array): Leaf {
  const hashes = leaf.hashes.slice()
  hashes.set(hash, at * LIMBS)
  const sums = leaf.sums.slice()
  subtractLimbs(sums, 0, leaf.hashes, at * LIMBS)
  if (!before.entry.deleted) subtractLimbs(sums, LIVE, leaf.hashes, at * LIMBS)
  const live = leaf.live - (before.entry.deleted ? 0 : 1) + addRow(sums, row, hash, 0)
  return { size: leaf.size, live, sums, rows: leaf.rows.with(at, row), hashes }
}

/** The node with another child in the place of `before`: its totals change by what the child's changed. */
function withChild(node: Inner, index: number, before: Tree, child: Tree): Inner {
  const sums = node.sums.slice()
  subtractLimbs(sums, 0, before.sums, 0)
  subtractLimbs(sums, LIVE, before.sums, LIVE)
  addTotals(sums, child.sums)
  const first = firstOf(child)
  return {
    size: node.size - before.size + child.size,
    live: node.live - before.live + child.live,
    sums,
    children: node.children.with(index, child),
    firsts: node.firsts[index] === first ? node.firsts : node.firsts.with(index, first),
  }
}

/**
 * Gives the place to cut a full node: in the middle; growth at the end leaves a full node behind, so that keys in order fill the
 * tree well.
 */
function splitPoint(length: number, changedAt: number): number {
  return changedAt >= length - 2 ? length - MIN_WIDTH : length >> 1
}

function deleteIn(node: Tree, position: Position): Tree {
  if (node.children === undefined) {
    const at = lowerBound(node.rows, position)
    const present = node.rows[at]
    if (present === undefined || comparePositions(present, position) !== 0) return node
    const hashes = new Uint32Array(node.hashes.length - LIMBS)
    hashes.set(node.hashes.subarray(0, at * LIMBS))
    hashes.set(node.hashes.subarray((at + 1) * LIMBS), at * LIMBS)
    return buildLeaf(node.rows.toSpliced(at, 1), hashes)
  }
  const index = childFor(node.firsts, position)
  const before = childAt(node, index)
  const after = deleteIn(before, position)
  if (after === before) return node
  return buildInner(
    widthOf(after) < MIN_WIDTH ? joined(node, index, after) : node.children.with(index, after),
  )
}

/** The children with the narrow one at `index` joined to a neighbour, or shared with it when both would not fit. */
function joined(node: Inner, index: number, narrow: Tree): Tree[] {
  const start = index > 0 ? index - 1 : 0
  const pair = [start, start + 1].map((at) => (at === index ? narrow : node.children[at]))
  const [left, right] = pair
  if (left === undefined || right === undefined) return [narrow]
  return node.children.toSpliced(start, 2, ...join(left, right))
}

function join(left: Tree, right: Tree): Tree[] {
  if (left.children === undefined && right.children === undefined) {
    const rows = [...left.rows, ...right.rows]
    const hashes = new Uint32Array(rows.length * LIMBS)
    hashes.set(left.hashes)
    hashes.set(right.hashes, left.hashes.length)
    const cut = rows.length <= MAX_WIDTH ? rows.length : rows.length >> 1
    return [
      buildLeaf(rows.slice(0, cut), hashes.slice(0, cut * LIMBS)),
      ...(cut < rows.length ? [buildLeaf(rows.slice(cut), hashes.slice(cut * LIMBS))] : []),
    ]
  }
  const children = [...(left.children ?? []), ...(right.children ?? [])]
  const cut = children.length <= MAX_WIDTH ? children.length : children.length >> 1
  return [
    buildInner(children.slice(0, cut)),
    ...(cut < children.length ? [buildInner(children.slice(cut))] : []),
  ]
}

function widthOf(node: Tree): number {
  return node.children === undefined ? node.rows.length : node.children.length
}

/** Even parts, so that none is too narrow to delete from. */
function chunks<T>(list: readonly T[], width: number): (readonly T[])[] {
  const count = Math.ceil(list.length / width)
  return Array.from({ length: count }, (_, part) =>
    list.slice(Math.floor((part * list.length) / count), Math.floor(((part + 1) * list.length) / count)),
  )
}
