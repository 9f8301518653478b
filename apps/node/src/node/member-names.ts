/** Finds what people call the members: the names that machines announce in the ledger. */
import { BUCKETS, machineRecord } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'

/** Gives the names by peer id; members without a name are not in it. */
export function memberNames(ledger: Pick<Ledger, 'snapshot'>): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { entry } of ledger.snapshot().entries(BUCKETS.machines)) {
    const record = entry.deleted ? undefined : machineRecord.safeParse(tryParse(entry.value)).data
    if (record === undefined || record['Guest'] === true) continue
    if (record.Hostname !== '') names.set(record.PeerID, record.Hostname)
  }
  return names
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
