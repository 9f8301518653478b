/**
 * The ledger's entries as a persistent ordered tree: a B+ tree keyed by (bucket, key) whose updates copy one path
 * of small nodes, so that an old root stays valid for ever and a write costs the same at any size. Each node keeps
 * how many entries lie below it, how many are live, and the sums of their hashes (all, and the live ones).
 */
import type { KeyedEntry } from './entry.ts'
import { addLimbs, LIMBS, subtractLimbs } from './fingerprint.ts'
import type { Position } from './snapshot.ts'

/** Entries in a leaf, children in an inner node: small enough to copy in a microsecond, large enough to be flat. */
const MAX_WIDTH = 32
const MIN_WIDTH = 8
/** `sums` holds the sum over all entries, then the sum over the live ones. */
const LIVE = LIMBS

interface Totals {
  readonly size: number
  readonly live: number
  readonly sums: Uint32Array
}

interface Leaf extends Totals {
  readonly rows: readonly KeyedEntry[]
  /** Limbs of each row's hash, in the order of `rows`. */
  readonly hashes: Uint32Array
  readonly children?: undefined
}

interface Inner extends Totals {
  readonly children: readonly Tree[]
  /** The first entry below each child. */
  readonly firsts: readonly Position[]
}

export type Tree = Leaf | Inner

export const emptyTree: Tree = {
  size: 0,
  live: 0,
  sums: new Uint32Array(2 * LIMBS),
  rows: [],
  hashes: new Uint32Array(0),
}

/** By bucket, then key, by UTF-16 code units. */
export function comparePositions(a: Position, b: Position): number {
  if (a.bucket !== b.bucket) return a.bucket < b.bucket ? -1 : 1
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}

export function treeGet(tree: Tree, position: Position): KeyedEntry | undefined {
  let node = tree
  while (node.children !== undefined) node = childAt(node, childFor(node.firsts, position))
  const at = lowerBound(node.rows, position)
  const row = node.rows[at]
  return row !== undefined && comparePositions(row, position) === 0 ? row : undefined
}

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

/** From rows in order, without one write for each. */
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
  const end = to === undefined ? tree : totalsBefore(tree, to)
  if (from === undefined) return end
  const start = totalsBefore(tree, from)
  const sums = end.sums.slice()
  subtractLimbs(sums, 0, start.sums, 0)
  subtractLimbs(sums, LIVE, start.sums, LIVE)
  return { size: end.size - start.size, live: end.live - start.live, sums }
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

/** In the middle; growth at the end leaves a full node behind, so that keys in order fill the tree well. */
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

function buildLeaf(rows: readonly KeyedEntry[], hashes: Uint32Array): Leaf {
  const sums = new Uint32Array(2 * LIMBS)
  let live = 0
  for (let at = 0; at < rows.length; at++) live += addRow(sums, rows[at], hashes, at * LIMBS)
  return { size: rows.length, live, sums, rows, hashes }
}

function buildInner(children: readonly Tree[]): Inner {
  const sums = new Uint32Array(2 * LIMBS)
  let size = 0
  let live = 0
  const firsts: Position[] = []
  for (const child of children) {
    size += child.size
    live += child.live
    addTotals(sums, child.sums)
    firsts.push(firstOf(child))
  }
  return { size, live, sums, children, firsts }
}

function firstOf(node: Tree): Position {
  const first = node.children === undefined ? node.rows[0] : node.firsts[0]
  if (first === undefined) throw new Error('an inner node has no empty child')
  return first
}

function addRow(sums: Uint32Array, row: KeyedEntry | undefined, hashes: Uint32Array, at: number): number {
  addLimbs(sums, 0, hashes, at)
  if (row === undefined || row.entry.deleted) return 0
  addLimbs(sums, LIVE, hashes, at)
  return 1
}

function addTotals(sums: Uint32Array, from: Uint32Array): void {
  addLimbs(sums, 0, from, 0)
  addLimbs(sums, LIVE, from, LIVE)
}

function widthOf(node: Tree): number {
  return node.children === undefined ? node.rows.length : node.children.length
}

function childAt(node: Inner, index: number): Tree {
  const child = node.children[index]
  if (child === undefined) throw new RangeError('no such child')
  return child
}

/** The child whose range holds `position`: the last one that begins at or before it. */
function childFor(firsts: readonly Position[], position: Position): number {
  let low = 1
  let high = firsts.length
  while (low < high) {
    const middle = (low + high) >> 1
    const first = firsts[middle]
    if (first !== undefined && comparePositions(first, position) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** How many rows lie before `position`. */
function lowerBound(rows: readonly Position[], position: Position): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row !== undefined && comparePositions(row, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Even parts, so that none is too narrow to delete from. */
function chunks<T>(list: readonly T[], width: number): (readonly T[])[] {
  const count = Math.ceil(list.length / width)
  return Array.from({ length: count }, (_, part) =>
    list.slice(Math.floor((part * list.length) / count), Math.floor(((part + 1) * list.length) / count)),
  )
}
