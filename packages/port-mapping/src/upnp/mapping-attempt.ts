/**
 * Decides what a router of version 1 is asked for next when it has refused a mapping: such a one is told which port, and chooses
 * none of its own. Pure.
 */
import type { Random } from '@mesh/core'
import { MAX_UPNP_ATTEMPTS, UPNP_FREE_PORTS, UPNP_LEASE_S } from '../limits.ts'

export interface MappingAttempt {
  readonly external: number
  /** How long the mapping lasts unless it is renewed; 0: until it is deleted. */
  readonly leaseS: number
  /** True where the router sends from a port to the same one alone. */
  readonly isSame: boolean
  /** How many there were, this one included. */
  readonly count: number
}

/** ConflictInMappingEntry, and ConflictWithOtherMechanisms where it was mapped by PCP or NAT-PMP. */
const CONFLICTS: readonly (number | undefined)[] = [718, 729]
const SAME_PORT_VALUES_REQUIRED = 724
const ONLY_PERMANENT_LEASES_SUPPORTED = 725

/** True where a router refused because the port is somebody else's. */
export function isConflict(fault: number | undefined): boolean {
  return CONFLICTS.includes(fault)
}

export function firstAttempt(external: number): MappingAttempt {
  return { external, leaseS: UPNP_LEASE_S, isSame: false, count: 1 }
}

/**
 * Undefined: nothing else is worth an attempt.
 * @param fault the number by which the router said why it refused
 * @param port this machine's own
 */
export function nextAttempt(
  attempt: MappingAttempt,
  fault: number | undefined,
  { port, random }: { readonly port: number; readonly random: Random },
): MappingAttempt | undefined {
  const { external, leaseS, isSame } = attempt
  const count = attempt.count + 1
  if (count > MAX_UPNP_ATTEMPTS) return undefined
  if (fault === ONLY_PERMANENT_LEASES_SUPPORTED && leaseS !== 0) return { ...attempt, leaseS: 0, count }
  if (fault === SAME_PORT_VALUES_REQUIRED && external !== port)
    return { ...attempt, external: port, isSame: true, count }
  if (!isConflict(fault) || isSame) return undefined
  const { first, last } = UPNP_FREE_PORTS
  return { ...attempt, external: first + Math.floor(random.float() * (last - first + 1)), count }
}
