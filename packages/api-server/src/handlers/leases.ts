/** Leases over the API: a program takes one, renews it with its number, and gives it back. */
import type { LeaseView } from '@mesh/api-contract'
import type { Lease, LeaseStatus } from '@mesh/ledger'
import { LEASE_ANSWER_MS } from '../limits.ts'
import { Problem } from '../messages/problem.ts'
import type { LeasesPort } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

type LeaseRoutes = 'listLeases' | 'takeLease' | 'releaseLease'

/** Creates the handlers. Without the port there are no leases, and none can be taken. */
export function createLeaseHandlers(given: LeasesPort | undefined): HandlersOf<LeaseRoutes> {
  const port = () => {
    if (given === undefined) throw new Problem('node.not_ready')
    return given
  }
  const heldWith = (name: string, number: number): Lease => {
    const held = port().held(name)
    if (held?.number === number) return held
    throw new Problem('lease.lost')
  }
  return {
    listLeases: () => (given?.list() ?? []).map(leaseView),
    async takeLease({ name, body: { TTL: ttlMs, Wait: waitMs = 0, Number: number } }) {
      const leases = port()
      if (number !== undefined) heldWith(name, number).renew()
      else await take(leases, { name, ttlMs, waitMs })
      const status = leases.status(name)
      if (status === undefined) throw new Problem('lease.lost')
      return leaseView(status)
    },
    async releaseLease({ name, number }) {
      await heldWith(name, number).release()
      return { State: 'Removed' }
    },
  }
}

/** @throws MeshError `lease.held` when its holder did not give it back in time */
async function take(
  leases: LeasesPort,
  { name, ttlMs, waitMs }: { readonly name: string; readonly ttlMs: number; readonly waitMs: number },
): Promise<void> {
  const held = leases.status(name)
  if (held !== undefined && waitMs === 0) throw heldBy(held)
  const signal = AbortSignal.timeout(waitMs + LEASE_ANSWER_MS)
  try {
    await leases.take({ name, ttlMs, renews: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    throw heldBy(leases.status(name))
  }
}

function heldBy(held: LeaseStatus | undefined): Problem {
  return new Problem('lease.held', undefined, { details: { owner: held?.holder } })
}

function leaseView({ name, holder, number, ttlMs }: LeaseStatus): LeaseView {
  return { Name: name, Holder: holder, Number: number, TTL: ttlMs / 1_000 }
}
