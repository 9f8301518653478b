/**
 * Leases of a program: among members that reach each other a lease has one holder at a time; in a partition each side may
 * have one until the sides meet again, and only the fencing number tells them apart.
 */
import { parseDuration } from '@mesh/core'
import type { Leases } from '@mesh/ledger'
import type { Waiting } from '@mesh/ledger/values'

export interface LeaseOptions extends Waiting {
  /** How long the lease lasts after each renewal, `15s` by default: from 5 s to 1 h. */
  readonly ttl?: string | undefined
}

/** A lease that this program holds; the node renews it until it is given back. */
export interface MeshLease extends AsyncDisposable {
  readonly name: string
  /**
   * The fencing number, counted up with each holder: greater than that of each holder before. Give it to what the lease protects, which refuses a number
   * below the greatest that it has seen.
   */
  readonly number: number
  /** Aborts when the lease is lost or given back: stop what it allows. */
  readonly signal: AbortSignal
  /** Gives the lease back, so that another member has it at once. Idempotent. */
  release(): Promise<void>
}

/** @throws MeshError `lease.*`; the signal's reason */
export async function takeLease(
  leases: Leases,
  name: string,
  { ttl = '15s', signal }: LeaseOptions & { readonly signal: AbortSignal },
): Promise<MeshLease> {
  const lease = await leases.take({ name, ttlMs: parseDuration(ttl), signal })
  const release = () => lease.release()
  const { number } = lease
  return { name, number, signal: lease.signal, release, [Symbol.asyncDispose]: release }
}
