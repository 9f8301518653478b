/** How much the ledger and each signer may hold. */
import { utf8Length } from '../entries/canonical.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import {
  ENTRY_OVERHEAD_BYTES,
  type LedgerLimits,
  MAX_BUCKET_BYTES,
  MAX_KEY_BYTES,
  MAX_OWNER_BYTES,
  MAX_VALUE_BYTES,
} from '../limits.ts'

const MAX_ENTRY_COST =
  MAX_BUCKET_BYTES + MAX_KEY_BYTES + MAX_VALUE_BYTES + MAX_OWNER_BYTES + ENTRY_OVERHEAD_BYTES

interface Usage {
  entries: number
  bytes: number
}

export interface Quota {
  /** May `next` be stored in the place of `before`? */
  admits(next: KeyedEntry, before: KeyedEntry | undefined): boolean
  count(row: KeyedEntry): void
  uncount(row: KeyedEntry): void
  readonly total: Readonly<Usage>
}

export function createQuota(limits: LedgerLimits): Quota {
  const total: Usage = { entries: 0, bytes: 0 }
  const owners = new Map<string, Usage>()
  const change = (row: KeyedEntry, by: 1 | -1) => {
    const bytes = by * costOf(row)
    const { owner } = row.entry
    const usage = owners.get(owner) ?? { entries: 0, bytes: 0 }
    for (const counted of [total, usage]) {
      counted.entries += by
      counted.bytes += bytes
    }
    if (usage.entries === 0) owners.delete(owner)
    else owners.set(owner, usage)
  }
  /** Far from every limit nothing has to be counted. */
  const hasAmpleRoom = (owner: string): boolean => {
    const used = owner === '' ? undefined : owners.get(owner)
    return (
      owner !== '' &&
      total.entries < limits.maxEntries &&
      total.bytes + MAX_ENTRY_COST <= limits.maxBytes &&
      (used?.entries ?? 0) < limits.maxSignerEntries &&
      (used?.bytes ?? 0) + MAX_ENTRY_COST <= limits.maxSignerBytes
    )
  }
  return {
    total,
    admits(next, before) {
      if (hasAmpleRoom(next.entry.owner)) return true
      const entries = before === undefined ? 1 : 0
      const bytes = costOf(next) - (before === undefined ? 0 : costOf(before))
      if (exceeds(total, { entries, bytes }, limits.maxEntries, limits.maxBytes)) return false
      const { owner } = next.entry
      const own = before !== undefined && before.entry.owner === owner
      const usage = owners.get(owner) ?? { entries: 0, bytes: 0 }
      const more = own ? { entries: 0, bytes } : { entries: 1, bytes: costOf(next) }
      return owner === ''
        ? !exceeds(usage, more, limits.maxUnsignedEntries, limits.maxUnsignedBytes)
        : !exceeds(usage, more, limits.maxSignerEntries, limits.maxSignerBytes)
    },
    count: (row) => change(row, 1),
    uncount: (row) => change(row, -1),
  }
}

/** True for an entry that makes a full ledger no fuller, which is always let in. */
function exceeds(usage: Usage, more: Usage, maxEntries: number, maxBytes: number): boolean {
  if (more.entries <= 0 && more.bytes <= 0) return false
  return usage.entries + more.entries > maxEntries || usage.bytes + more.bytes > maxBytes
}

function costOf({ bucket, key, entry }: KeyedEntry): number {
  return (
    utf8Length(bucket) + utf8Length(key) + utf8Length(entry.value) + entry.owner.length + ENTRY_OVERHEAD_BYTES
  )
}
