/** The blocks that a node keeps, as a list that grows at both ends. */
import type { BlocksView } from '@mesh/api-contract'
import { BUCKETS } from '@mesh/core'

export type BlockHead = BlocksView['Blocks'][number]

/** A run of blocks without a gap, the newest first. */
export interface KnownBlocks {
  readonly head: number
  /** The oldest block that the node keeps. */
  readonly first: number
  readonly blocks: readonly BlockHead[]
}

/**
 * Adds the answer of the node to what is known; the answer is right where both have a block.
 *
 * @returns undefined where blocks between them are missing
 */
export function joinBlocks(known: KnownBlocks, { Head, First, Blocks }: BlocksView): KnownBlocks | undefined {
  const newest = Blocks[0]?.Index
  const oldest = Blocks.at(-1)?.Index
  if (newest === undefined || oldest === undefined) return { ...known, head: Head, first: First }
  const above = known.blocks.filter(({ Index }) => Index > newest)
  const below = known.blocks.filter(({ Index }) => Index < oldest && Index >= First)
  if (hasGap(above.at(-1)?.Index, newest) || hasGap(oldest, below[0]?.Index)) return undefined
  return { head: Head, first: First, blocks: [...above, ...Blocks, ...below] }
}

function hasGap(above: number | undefined, below: number | undefined): boolean {
  return above !== undefined && below !== undefined && above - below > 1
}

/** The index below which blocks are asked for next; undefined when all are known. */
export function nextBefore({ blocks, first }: KnownBlocks): number | undefined {
  const oldest = blocks.at(-1)?.Index
  return oldest === undefined || oldest <= first ? undefined : oldest
}

/** True for a block that says only that members are alive. */
export function isHeartbeat({ Buckets }: BlockHead): boolean {
  return Buckets.length === 1 && Buckets[0] === BUCKETS.healthcheck
}

/** The first characters of a hash tell blocks apart. */
export function shortHash(hash: string): string {
  return hash.slice(0, 10)
}
