/**
 * Reads what the ledger says to those who elect who takes the next address (docs/WIRE.md 6.1): who waits, and
 * who leads.
 */
import { BUCKETS, parseHeartbeat, type PeerId, tryParsePeerId } from '@mesh/core'
import type { Change, Snapshot } from '@mesh/ledger'
import { holderOf } from '../addresses/machines-bucket.ts'
import type { VpnLedger } from '../ports.ts'
import { AVAILABLE_MS } from './limits.ts'

const LEADER_KEY = 'leader'
const MAX_LEADER_LENGTH = 128

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
    const beat = parseHeartbeat(entry.value)
    if (beat !== undefined && beat + AVAILABLE_MS > nowMs) waiting.push(key)
  }
  return waiting
}

/** Undefined when nobody is named. */
export function readLeader(snapshot: Snapshot): LeaderEntry | undefined {
  const entry = snapshot.getLive(BUCKETS.dhcp, LEADER_KEY)
  if (entry === undefined || entry.value.length > MAX_LEADER_LENGTH) return undefined
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

/** True when a change tells something new of who waits, who leads or what is used; a further heartbeat does not. */
export function concernsLeases({ bucket, entry, previous }: Change): boolean {
  if (bucket === BUCKETS.machines || bucket === BUCKETS.dhcp) return true
  return bucket === BUCKETS.healthcheck && (entry.deleted || previous?.deleted !== false)
}
