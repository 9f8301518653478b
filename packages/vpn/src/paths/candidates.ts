/** Which addresses this node tells others of its socket, and which ones of others it believes. Pure. */
import { type Cidr, cidrContains, type IpAddress } from '@mesh/core'
import { type Endpoint, endpointText } from '@mesh/engine'
import ipaddr from 'ipaddr.js'
import type { HostNetwork } from '../vpn.ts'
import { MAX_CANDIDATES } from '../wire/limits.ts'
import { MAX_MAPPED } from './limits.ts'
import type { Candidate } from '../wire/control-message.ts'

/** Kinds of addresses at which no other machine can be. */
const NOWHERE: ReadonlySet<string> = new Set([
  'loopback',
  'unspecified',
  'multicast',
  'broadcast',
  'linkLocal',
  // what stands in these leads to an IPv4 address, of whatever kind that is
  'rfc6052',
  'rfc6145',
  '6to4',
  'teredo',
])
/** Reserved for uses to come; the rest of what is reserved is for examples. */
const RESERVED = ipaddr.IPv4.parseCIDR('240.0.0.0/4')

/** Says whether a peer could be at the address: never inside the VPN, whose packets would then run in a circle. */
export function isCandidateAddress(address: IpAddress, vpnRanges: readonly Cidr[]): boolean {
  const parsed = ipaddr.parse(address)
  const isReserved = parsed.kind() === 'ipv4' && (parsed as ipaddr.IPv4).match(RESERVED)
  if (isReserved || NOWHERE.has(parsed.range())) return false
  return !vpnRanges.some((range) => cidrContains(range, address))
}

export interface OwnInput {
  readonly networks: readonly HostNetwork[]
  /** The VPN's interface, whose addresses are no way. */
  readonly interfaceName: string
  readonly vpnRanges: readonly Cidr[]
  readonly port: number
  /** Ports of routers that lead to this socket. */
  readonly mapped: readonly Endpoint[]
  /** Where others saw this socket. */
  readonly seen: readonly Endpoint[]
}

/** This node's candidates: its interfaces' addresses, then its routers' ports, then where others saw it. */
export function ownCandidates({
  networks,
  interfaceName,
  vpnRanges,
  port,
  mapped,
  seen,
}: OwnInput): readonly Candidate[] {
  const own = networks
    .filter((network) => network.interface !== interfaceName)
    .map(({ address }) => address.address)
    .filter((address) => isCandidateAddress(address, vpnRanges))
    .map((address): Candidate => ({ endpoint: { address, port }, kind: 'own' }))
  const known = new Set(own.map(({ endpoint }) => endpointText(endpoint)))
  const outside = [
    ...mapped.slice(0, MAX_MAPPED).map((endpoint): Candidate => ({ endpoint, kind: 'mapped' })),
    ...seen.map((endpoint): Candidate => ({ endpoint, kind: 'seen' })),
  ].filter(({ endpoint }) => {
    const text = endpointText(endpoint)
    const isNew = !known.has(text) && isCandidateAddress(endpoint.address, vpnRanges)
    known.add(text)
    return isNew
  })
  return [...own.slice(0, MAX_CANDIDATES - outside.length), ...outside]
}

/** Those of a peer's candidates that it could be at. */
export function believedCandidates(
  told: readonly Candidate[],
  vpnRanges: readonly Cidr[],
): readonly Candidate[] {
  return told
    .filter(({ endpoint }) => isCandidateAddress(endpoint.address, vpnRanges))
    .slice(0, MAX_CANDIDATES)
}
