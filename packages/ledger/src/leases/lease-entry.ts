/** Reads and writes entries of the bucket `leases`: who holds the lease, its fencing number, and for how long. */
import { LEAST_LEASE_MS, MOST_LEASE_MS } from '../limits.ts'

/** The lease that an entry tells of. */
export interface LeaseEntry {
  /** Peer id of the holder, who signed the entry. */
  readonly holder: string
  /** The fencing number of this holder. */
  readonly number: number
  /** How long the lease lasts after each renewal, in ms. */
  readonly ttlMs: number
}

/** Writes the Value, as JSON text. `renewals` makes each renewal another value. */
export function leaseText({ holder, number, ttlMs }: LeaseEntry, renewals: number): string {
  return JSON.stringify({ PeerID: holder, Number: number, TTL: ttlMs / 1000, Renewals: renewals })
}

/** Reads a Value; undefined for one that no holder writes. */
export function readLease(valueText: string): LeaseEntry | undefined {
  if (valueText.length > MAX_LEASE_CHARS) return undefined
  try {
    const { PeerID, Number: number, TTL } = (JSON.parse(valueText) ?? {}) as Record<string, unknown>
    if (typeof PeerID !== 'string' || !isNumber(number) || typeof TTL !== 'number') return undefined
    return { holder: PeerID, number, ttlMs: Math.min(MOST_LEASE_MS, Math.max(LEAST_LEASE_MS, TTL * 1000)) }
  } catch {
    return undefined
  }
}

/** The time after `UpdatedAt` in which a lease is its holder's, in ms; the shortest for a Value that cannot be read. */
export function leaseTtlMs(valueText: string): number {
  return readLease(valueText)?.ttlMs ?? LEAST_LEASE_MS
}

const MAX_LEASE_CHARS = 1_024

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
