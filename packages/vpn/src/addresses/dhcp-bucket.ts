/** What the ledger says to those who lease: who waits for an address, who leads, which addresses are used. */
import { BUCKETS, type IpAddress, parseHeartbeat, type PeerId, tryParsePeerId } from '@mesh/core'
import type { Change, Entry, Snapshot } from '@mesh/ledger'
import type { VpnLedger } from '../ports.ts'
import { canonicalIp } from '../table/prefix.ts'
import { readMachine } from '../table/read-entry.ts'
import { AVAILABLE_MS } from '../legacy/limits.ts'

export const MACHINES_BUCKET = 'machines'
export const DHCP_BUCKET = 'dhcp'
export const LEADER_KEY = 'leader'

/** Who says that somebody leads. */
export interface LeaderEntry {
  readonly leader: PeerId
  /** '' with ownership `off`. */
  readonly by: string
}

/** Nodes with a heartbeat of the last 15 minutes and without a machine, as legacy nodes see them (docs/WIRE.md 6.1). */
export function readWaiting(snapshot: Snapshot, nowMs: number): readonly string[] {
  const placed = new Set<string>()
  for (const { key, entry } of snapshot.entries(MACHINES_BUCKET)) {
    if (!entry.deleted) placed.add(holderOf(key, entry))
  }
  const waiting: string[] = []
  for (const { key, entry } of snapshot.entries(BUCKETS.healthcheck)) {
    if (entry.deleted || placed.has(key)) continue
    const beat = parseHeartbeat(entry.value)
    if (beat !== undefined && beat + AVAILABLE_MS > nowMs) waiting.push(key)
  }
  return waiting
}

/** Undefined when nobody is named. */
export function readLeader(snapshot: Snapshot): LeaderEntry | undefined {
  const entry = snapshot.getLive(DHCP_BUCKET, LEADER_KEY)
  if (entry === undefined || entry.value.length > MAX_LEADER_LENGTH) return undefined
  try {
    const value: unknown = JSON.parse(entry.value)
    const leader = typeof value === 'string' ? tryParsePeerId(value) : undefined
    return leader && { leader, by: entry.owner }
  } catch {
    return undefined
  }
}

/** Addresses that have an entry or are named by one, whether their owners live or are not reaped yet. */
export function readUsed(snapshot: Snapshot): Set<IpAddress> {
  const used = new Set<IpAddress>()
  for (const { key, entry } of snapshot.entries(MACHINES_BUCKET)) {
    if (entry.deleted) continue
    const address = canonicalIp(key)
    if (address !== undefined) used.add(address)
    const machine = readMachine(key, entry)
    if (typeof machine !== 'string' && machine.named !== undefined) used.add(machine.named)
  }
  return used
}

/**
 * Does an entry of a live member for its IPv6 address say that a person gave it this address? So one that finds the
 * address leased asks for it.
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

/** Whom an entry of `machines` belongs to; '' for nobody that can be told. */
export function holderOf(key: string, entry: Entry): string {
  if (entry.owner !== '') return entry.owner
  const machine = readMachine(key, entry)
  return typeof machine === 'string' ? '' : machine.peer
}

export interface OtherHolder {
  readonly peer: string
  readonly hostname: string
  readonly leased: boolean
  /** Unix ms by its clock. */
  readonly claimedAt: number
}

/** Another live member's entry; undefined when the address can be this node's. */
export function otherHolder(
  ledger: Pick<VpnLedger, 'self' | 'snapshot'>,
  address: IpAddress,
  nowMs: number,
): OtherHolder | undefined {
  const snapshot = ledger.snapshot()
  const entry = snapshot.getLive(MACHINES_BUCKET, address)
  if (entry === undefined) return undefined
  const peer = holderOf(address, entry)
  if (peer === ledger.self || !snapshot.isOwnerLive(peer, nowMs)) return undefined
  const machine = readMachine(address, entry)
  const [hostname, leased] = typeof machine === 'string' ? ['', false] : [machine.hostname, machine.leased]
  return { peer, hostname, leased, claimedAt: Number(entry.version / 1_000_000n) }
}

/** Who waits, who leads, what is used; a heartbeat of a node that was there before tells nothing new. */
export function concernsLeases({ bucket, entry, previous }: Change): boolean {
  if (bucket === MACHINES_BUCKET || bucket === DHCP_BUCKET) return true
  return bucket === BUCKETS.healthcheck && (entry.deleted || previous?.deleted !== false)
}

const MAX_LEADER_LENGTH = 128
