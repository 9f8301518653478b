/**
 * Reads what the bucket `machines` says of addresses: whose they are, which are used, and who asks for one.
 */
import { BUCKETS, type IpAddress } from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'
import type { VpnLedger } from '../ports.ts'
import { readAddress, readMachine } from './read-entry.ts'

/**
 * The member whose IPv6 entry says that a person gave it this address. So it asks for an address that is leased. Undefined when
 * the entry asks for nothing.
 */
export function asksFor(
  { key, entry }: { readonly key: string; readonly entry: Entry },
  address: IpAddress,
): string | undefined {
  if (entry.deleted || key === address) return undefined
  const machine = readMachine(key, entry)
  if (typeof machine === 'string' || machine.named !== address || machine.leased) return undefined
  return holderOf(key, entry) === machine.peer ? machine.peer : undefined
}

/** The member whom an entry of `machines` belongs to; '' when that cannot be told. */
export function holderOf(key: string, entry: Entry): string {
  if (entry.owner !== '') return entry.owner
  const machine = readMachine(key, entry)
  return typeof machine === 'string' ? '' : machine.peer
}

interface OtherHolder {
  readonly peer: string
  readonly hostname: string
  readonly leased: boolean
  /** When it wrote the entry, in Unix ms by its clock. */
  readonly claimedAt: number
}

/** The other live member that holds the address; undefined when it can be this node's. */
export function otherHolder(
  ledger: Pick<VpnLedger, 'self' | 'snapshot'>,
  address: IpAddress,
  nowMs: number,
): OtherHolder | undefined {
  const snapshot = ledger.snapshot()
  const entry = snapshot.getLive(BUCKETS.machines, address)
  if (entry === undefined) return undefined
  const peer = holderOf(address, entry)
  if (peer === ledger.self || !snapshot.isOwnerLive(peer, nowMs)) return undefined
  const machine = readMachine(address, entry)
  const [hostname, leased] = typeof machine === 'string' ? ['', false] : [machine.hostname, machine.leased]
  return { peer, hostname, leased, claimedAt: Number(entry.version / 1_000_000n) }
}

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
