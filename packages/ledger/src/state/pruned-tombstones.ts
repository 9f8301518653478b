/**
 * Collected tombstones, remembered by hash and version within a bound, so that an old entry cannot be replayed as
 * a first claim of its key.
 */
import { positionId } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { KeyedEntry } from '../entries/entry.ts'
import type { Position } from '../snapshot.ts'
import type { PrunedTombstone } from './store.ts'

/** 96 bits: nobody finds a second key to one within the bound. */
const HASH_BYTES = 12

interface PruningPlan {
  readonly added: readonly PrunedTombstone[]
  readonly dropped: readonly string[]
}

/** @param stored oldest first */
export function createPrunedTombstones(most: number, stored: readonly PrunedTombstone[]) {
  const versions = new Map(stored.map(({ hash, version }) => [hash, version]))
  return {
    /** The version up to which entries of this key are refused. */
    versionOf: (position: Position) =>
      versions.size === 0 ? undefined : versions.get(positionHash(position)),
    /** Tells what to remember and forget when these tombstones are collected and these entries stored. */
    plan(collected: readonly KeyedEntry[], entries: readonly Position[]): PruningPlan {
      const added = collected.map((row) => ({ hash: positionHash(row), version: row.entry.version }))
      const dropped =
        versions.size === 0 ? [] : entries.map(positionHash).filter((hash) => versions.has(hash))
      let excess = versions.size + added.length - dropped.length - most
      const gone = new Set(dropped)
      for (const hash of versions.keys()) {
        if (excess <= 0) break
        if (gone.has(hash)) continue
        dropped.push(hash)
        excess--
      }
      return { added: added.slice(-most), dropped }
    },
    apply({ added, dropped }: PruningPlan) {
      for (const hash of dropped) versions.delete(hash)
      for (const { hash, version } of added) versions.set(hash, version)
    },
    /** All that are remembered, oldest first. */
    list: () => Array.from(versions, ([hash, version]) => ({ hash, version })),
  }
}

export type PrunedTombstones = ReturnType<typeof createPrunedTombstones>

function positionHash(position: Position): string {
  const text = new TextEncoder().encode(positionId(position))
  return bytesToHex(sha256(text).subarray(0, HASH_BYTES))
}
