/**
 * Nodes of the ledger's tree. Each keeps how many entries lie below it, how many are live, and the sums of their hashes
 * (all, and the live ones).
 */
import type { KeyedEntry } from '../entries/entry.ts'
import { addLimbs, LIMBS } from '../entries/fingerprint.ts'
import type { Position } from '../snapshot.ts'

/** Entries in a leaf, children in an inner node: small enough to copy in a microsecond, large enough to be flat. */
export const MAX_WIDTH = 32

export const MIN_WIDTH = 8

/** `sums` holds the sum over all entries, then the sum over the live ones. */
export const LIVE = LIMBS

export interface Totals {
  readonly size: number
  readonly live: number
  readonly sums: Uint32Array
}

export interface Leaf extends Totals {
  readonly rows: readonly KeyedEntry[]
  /** Limbs of each row's hash, in the order of `rows`. */
  readonly hashes: Uint32Array
  readonly children?: undefined
}

export interface Inner extends Totals {
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

export function buildLeaf(rows: readonly KeyedEntry[], hashes: Uint32Array): Leaf {
  const sums = new Uint32Array(2 * LIMBS)
  let live = 0
  for (let at = 0; at < rows.length; at++) live += addRow(sums, rows[at], hashes, at * LIMBS)
  return { size: rows.length, live, sums, rows, hashes }
}

export function buildInner(children: readonly Tree[]): Inner {
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

export function firstOf(node: Tree): Position {
  const first = node.children === undefined ? node.rows[0] : node.firsts[0]
  if (first === undefined) throw new Error('an inner node has no empty child')
  return first
}

export function addRow(
  sums: Uint32Array,
  row: KeyedEntry | undefined,
  hashes: Uint32Array,
  at: number,
): number {
  addLimbs(sums, 0, hashes, at)
  if (row === undefined || row.entry.deleted) return 0
  addLimbs(sums, LIVE, hashes, at)
  return 1
}

export function addTotals(sums: Uint32Array, from: Uint32Array): void {
  addLimbs(sums, 0, from, 0)
  addLimbs(sums, LIVE, from, LIVE)
}

export function childAt(node: Inner, index: number): Tree {
  const child = node.children[index]
  if (child === undefined) throw new RangeError('no such child')
  return child
}
