import { type AddressInRange, type Cidr, parseCidr, type PeerId } from '@mesh/core'
import type { VpnInit } from '../vpn.ts'
import { deriveIpv6, deriveIpv6Range } from './derive-ipv6.ts'

/** The range in which addresses are leased when nothing else is said. */
const LEASE_RANGE = parseCidr('10.1.0.0/24')

export interface OwnRanges {
  /** The IPv6 address that follows from the network's key and the peer id, with its range. */
  readonly derived: AddressInRange
  /** The range in which an address is leased; undefined where a person gave addresses. */
  readonly leaseRange: Cidr | undefined
  /** The ranges that a person gave, or the one of the lease. */
  readonly given: readonly Cidr[]
}

/** Gives the ranges in which a node has addresses, by what it was told. */
export function ownRanges({ addresses, lease, secret }: VpnInit, self: PeerId): OwnRanges {
  const derived = deriveIpv6(deriveIpv6Range(secret), self)
  const leaseRange = addresses.length > 0 ? undefined : (lease?.range.range ?? LEASE_RANGE)
  const given = leaseRange === undefined ? addresses.map(({ range }) => range) : [leaseRange]
  return { derived, leaseRange, given }
}
