/** Says what is wrong with the addresses that a person gave this node: each by name, with what to do. */
import {
  type AddressInRange,
  type Cidr,
  cidrContains,
  formatAddressInRange,
  MeshError,
  type PeerId,
  shortPeerId,
} from '@mesh/core'
import { type VpnErrorCode, vpnError } from '../errors.ts'
import type { VpnLedger } from '../ports.ts'
import { covers, hostPrefix, isBroad, isReserved, prefixOf } from './prefix.ts'
import type { HostNetwork } from '../vpn.ts'
import { otherHolder } from './machines-bucket.ts'
import { hostsOf, ipv4Of, isBroadcastAddress, isIpv4, isNetworkAddress, prefixLengthOf } from './ip-math.ts'

type AddressError = MeshError<VpnErrorCode>

/** Says what is wrong with addresses that no node can have, whoever else is in the network. */
export function checkAddressForms(addresses: readonly AddressInRange[]): readonly AddressError[] {
  const errors: AddressError[] = []
  const seen = new Set<string>()
  for (const given of addresses) {
    const reason = seen.has(given.address) ? 'is given twice' : whyBad(given)
    seen.add(given.address)
    if (reason !== undefined) errors.push(badAddress(given, reason))
  }
  return errors
}

/**
 * Ranges of this node that would hide a network of the host, or be hidden by it.
 * @param ranges those of fixed addresses, or the one to lease in
 * @param ownInterface the VPN's interface, which may be left over from a run that ended badly
 */
export function checkHostNetworks(
  ranges: readonly Cidr[],
  networks: readonly HostNetwork[],
  ownInterface: string,
): readonly AddressError[] {
  return findClashes(ranges, networks, ownInterface).map(overlapping)
}

/** A range of the VPN, and a network of this machine that overlaps with it. */
export interface Clash {
  readonly range: Cidr
  readonly network: HostNetwork
}

/** Gives the first network of the host that overlaps with each range; the VPN's own interface counts for none. */
export function findClashes(
  ranges: readonly Cidr[],
  networks: readonly HostNetwork[],
  ownInterface: string,
): readonly Clash[] {
  return ranges.flatMap((range) => {
    const clash = networks.find(
      (network) => network.interface !== ownInterface && overlap(range, network.address.range),
    )
    return clash === undefined ? [] : [{ range, network: clash }]
  })
}

/** The addresses that another live member holds now; to be asked when this node knows what others hold. */
export function checkNotTaken(
  addresses: readonly AddressInRange[],
  ledger: Pick<VpnLedger, 'self' | 'snapshot'>,
  nowMs: number,
): readonly AddressError[] {
  return addresses.flatMap(({ address, prefixLength }) => {
    const other = otherHolder(ledger, address, nowMs)
    if (other === undefined) return []
    const { peer, hostname, leased } = other
    const name = hostname === '' ? shortPeerId(peer) : `${hostname} (${shortPeerId(peer)})`
    const there = hostname === '' ? 'the other one' : hostname
    return [
      vpnError('vpn.address_taken', `${address} belongs to ${name}${leased ? ', by lease' : ''}`, {
        hint: `Give this machine another --address, or move ${there}: start mesh there with another --address, and ${address} is free at once.`,
        issues: [
          {
            field: '--address',
            value: formatAddressInRange({ address, prefixLength }),
            expected: 'an address that is free',
          },
        ],
        details: { address, peer: peer as PeerId, hostname },
      }),
    ]
  })
}

function whyBad(given: AddressInRange): string | undefined {
  const { address, range } = given
  const special = SPECIAL.find(([reserved]) => cidrContains(reserved, address))
  if (special !== undefined) return special[1]
  if (isReserved(hostPrefix(address))) return 'is no address of a host'
  if (isBroad(prefixOf(range))) return `has so large a range (${range}) that the Internet would be cut off`
  if (isNetworkAddress(given)) return `is the address of the network ${range} itself`
  if (isBroadcastAddress(given)) return `is the broadcast address of ${range}`
  return undefined
}

const SPECIAL = (
  [
    ['127.0.0.0/8', 'is a loopback address'],
    ['::1/128', 'is a loopback address'],
    ['169.254.0.0/16', 'is a link-local address'],
    ['fe80::/10', 'is a link-local address'],
    ['224.0.0.0/4', 'is a multicast address'],
    ['ff00::/8', 'is a multicast address'],
    ['::ffff:0:0/96', 'is an IPv4 address written as IPv6'],
  ] satisfies [string, string][]
).map(([range, reason]) => [range as Cidr, reason] as const)

function badAddress({ address, range, prefixLength }: AddressInRange, reason: string): AddressError {
  return vpnError('vpn.bad_address', `--address ${address}/${prefixLength} ${reason}`, {
    hint: `Give an address of a host, as ${example(range)}.`,
    issues: [
      {
        field: '--address',
        value: formatAddressInRange({ address, prefixLength }),
        expected: 'an address of a host, as 10.1.0.11/24',
      },
    ],
    details: { address, range },
  })
}

/** An address to name as an example: the first host of the range where there is one. */
function example(range: Cidr): string {
  const fallback = isIpv4(range) ? '10.1.0.11/24' : 'fd00:1::11/64'
  const prefix = prefixOf(range)
  if (!isIpv4(range) || isReserved(prefix) || isBroad(prefix)) return fallback
  return `${ipv4Of(hostsOf(range).first)}/${prefixLengthOf(range)}`
}

function overlap(a: Cidr, b: Cidr): boolean {
  const [one, other] = [prefixOf(a), prefixOf(b)]
  return covers(one, other) || covers(other, one)
}

function overlapping({ range, network: { interface: name, address } }: Clash): AddressError {
  return vpnError('vpn.address_in_use', `${range} overlaps with ${address.range}, the network of ${name}`, {
    hint: `Use a range for the VPN that no network of this machine has, on all nodes: --address 10.77.0.11/24.`,
    issues: [{ field: '--address', value: range, expected: `a range outside of ${address.range}` }],
    details: { range, interface: name, network: address.range },
  })
}
