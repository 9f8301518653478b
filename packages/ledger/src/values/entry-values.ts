/** Entries of the ledger as a program sees them. */
import { parseExactJson } from '@mesh/core'
import type { Entry } from '../entries/entry.ts'

/** One entry of a bucket. */
export interface MeshEntry {
  readonly key: string
  /** The value as JSON has it; whole numbers beyond 2^53 are a `bigint`. Other members write it: check its form. */
  readonly value: unknown
  /** The peer id of the member that wrote it; empty for one of a member that signs nothing. */
  readonly owner: string
  /** False: the owner has left the network, or nothing was heard of it for eight minutes (`ownership-ttl`). */
  readonly isOwnerAlive: boolean
  /** The time of the write in ms since 1970, by the owner's clock; whole seconds. */
  readonly updatedAt: number
}

/** One change of a key. */
export interface MeshChange {
  readonly key: string
  /** The value now; undefined when the key was deleted. */
  readonly value: unknown
  readonly isDeleted: boolean
  /** The peer id of the member that wrote or deleted it; empty for one that signs nothing. */
  readonly owner: string
}

export function changeOf(key: string, entry: Entry): MeshChange {
  const { deleted: isDeleted, owner } = entry
  return { key, value: isDeleted ? undefined : valueOf(entry), isDeleted, owner }
}

/** Members of legacy networks may write what is no JSON: that is given as text. */
export function valueOf({ value }: Entry): unknown {
  try {
    return parseExactJson(value)
  } catch {
    return value
  }
}
