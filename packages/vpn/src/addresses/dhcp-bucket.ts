/**
 * Reads what the ledger says about the election for the next address (docs/WIRE.md 6.1): who waits, who leads, and which nodes
 * of our kind ask for an address (docs/PROTOCOLS.md, 'Leases').
 */
import { BUCKETS, type Cidr, type PeerId, tryParsePeerId } from '@mesh/core'
import { type Change, heartbeatTime, type Snapshot } from '@mesh/ledger'
import { isIpv4 } from './ip-math.ts'
import { holderOf } from './machines-bucket.ts'
import type { VpnLedger } from '../ports.ts'
import { readAddress } from './read-entry.ts'
import { AVAILABLE_MS, MAX_ASKING } from './limits.ts'

const LEADER_KEY = 'leader'
const MAX_VALUE_LENGTH = 128

/** Who says that somebody leads. */
interface LeaderEntry {
  readonly leader: PeerId
  /** The entry's owner; '' with ownership `off`. */
  readonly by: string
}

/** Nodes with a heartbeat of the last 15 minutes and without a machine, as legacy nodes see them. */
export function readWaiting(snapshot: Snapshot, nowMs: number): readonly string[] {
  const placed = new Set<string>()
  for (const { key, entry } of snapshot.entries(BUCKETS.machines)) {
    if (!entry.deleted) placed.add(holderOf(key, entry))
  }
  const waiting: string[] = []
  for (const { key, entry } of snapshot.entries(BUCKETS.healthcheck)) {
    if (entry.deleted || placed.has(key)) continue
    const beat = heartbeatTime(entry)
    if (beat !== undefined && beat + AVAILABLE_MS > nowMs) waiting.push(key)
  }
  return waiting
}

/** Undefined when nobody is named. */
export function readLeader(snapshot: Snapshot): LeaderEntry | undefined {
  const entry = snapshot.getLive(BUCKETS.dhcp, LEADER_KEY)
  if (entry === undefined || entry.value.length > MAX_VALUE_LENGTH) return undefined
  try {
    const value: unknown = JSON.parse(entry.value)
    const leader = typeof value === 'string' ? tryParsePeerId(value) : undefined
    return leader && { leader, by: entry.owner }
  } catch {
    return undefined
  }
}

/** @throws MeshError `ledger.*` when the ledger does not take the write */
export function writeLeader(ledger: Pick<VpnLedger, 'put'>, peer: string): void {
  ledger.put(BUCKETS.dhcp, LEADER_KEY, JSON.stringify(peer))
}

/**
 * The live nodes that ask for an address of the range and hold no IPv4 address, in the order in which they take the
 * free ones.
 */
export function readRequests(snapshot: Snapshot, range: Cidr, nowMs: number): readonly string[] {
  const text = requestText(range)
  const asking = new Set<string>()
  for (const { key, entry } of snapshot.entries(BUCKETS.dhcp)) {
    if (entry.deleted || entry.value !== text) continue
    // The bucket is open: what another wrote under a node's name asks for nothing. Without ownership nobody is named.
    if (entry.owner !== '' && entry.owner !== key) continue
    if (snapshot.isOwnerLive(key, nowMs)) asking.add(key)
    if (asking.size >= MAX_ASKING) break
  }
  if (asking.size === 0) return []
  for (const { key, entry } of snapshot.entries(BUCKETS.machines)) {
    if (entry.deleted) continue
    const read = readAddress(key, entry)
    if (typeof read !== 'string' && isIpv4(read.address)) asking.delete(holderOf(key, entry))
  }
  return [...asking].toSorted()
}

/** Asks for an address of the range. @throws MeshError `ledger.*` when the ledger does not take the write */
export function writeRequest(ledger: Pick<VpnLedger, 'put' | 'self'>, range: Cidr): void {
  ledger.put(BUCKETS.dhcp, ledger.self, requestText(range))
}

/** Ends this node's request, where there is one. @throws MeshError `ledger.*` when the ledger does not take the write */
export function endRequest(ledger: Pick<VpnLedger, 'delete' | 'self' | 'snapshot'>): void {
  if (ledger.snapshot().getLive(BUCKETS.dhcp, ledger.self) !== undefined) {
    ledger.delete(BUCKETS.dhcp, ledger.self)
  }
}

function requestText(range: Cidr): string {
  return JSON.stringify({ Range: range })
}

/** True when a change tells something new of who waits, who leads or what is used; a further heartbeat does not. */
export function concernsLeases({ bucket, entry, previous }: Change): boolean {
  if (bucket === BUCKETS.machines || bucket === BUCKETS.dhcp) return true
  return bucket === BUCKETS.healthcheck && (entry.deleted || previous?.deleted !== false)
}
