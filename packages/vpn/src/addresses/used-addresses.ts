import { BUCKETS, type IpAddress } from '@mesh/core'
import type { Snapshot } from '@mesh/ledger'
import { readAddress, readMachine } from './read-entry.ts'

/** The addresses that have an entry or are named by one, also of owners that are dead and not reaped yet. */
export function readUsed(snapshot: Snapshot): Set<IpAddress> {
  const used = new Set<IpAddress>()
  for (const { key, entry } of snapshot.entries(BUCKETS.machines)) {
    if (entry.deleted) continue
    const read = readAddress(key, entry)
    if (typeof read !== 'string') used.add(read.address)
    const machine = readMachine(key, entry)
    if (typeof machine !== 'string' && machine.named !== undefined) used.add(machine.named)
  }
  return used
}
