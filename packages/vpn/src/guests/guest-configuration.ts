/** Makes what a guest is given: the text that every WireGuard app takes, and where it finds this node. Pure. */
import type { Cidr, IpAddress } from '@mesh/core'
import { endpointText } from '@mesh/engine'
import { isIpv4 } from '../addresses/ip-math.ts'
import { hostPrefix, hostRange, isPublic } from '../addresses/prefix.ts'
import type { DnsPlace } from '../vpn.ts'
import type { Candidate } from '../wire/control-message.ts'
import { KEEPALIVE_S } from './limits.ts'

interface GuestConfigurationInit {
  readonly name: string
  readonly privateKey: string
  readonly presharedKey: string
  readonly addresses: readonly IpAddress[]
  /** The node's resolver; undefined: it answers no DNS that guests could ask. */
  readonly dns: IpAddress | undefined
  readonly mtu: number
  readonly node: {
    readonly name: string
    readonly publicKey: string
    /** The place at which the guest reaches this node, `HOST:PORT`. */
    readonly endpoint: string
  }
  /** The networks that it reaches through the node. */
  readonly reaches: readonly Cidr[]
}

/** The configuration as `wg-quick` and the apps read it. */
export function guestConfiguration(init: GuestConfigurationInit): string {
  const { name, privateKey, presharedKey, addresses, dns, mtu, node, reaches } = init
  return [
    `# ${name}, a guest of ${node.name}`,
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = ${addresses.map(hostRange).join(', ')}`,
    ...(dns === undefined ? [] : [`DNS = ${dns}`]),
    `MTU = ${mtu}`,
    '',
    '[Peer]',
    `PublicKey = ${node.publicKey}`,
    `PresharedKey = ${presharedKey}`,
    `AllowedIPs = ${reaches.join(', ')}`,
    `Endpoint = ${node.endpoint}`,
    `PersistentKeepalive = ${KEEPALIVE_S}`,
    '',
  ].join('\n')
}

/** The port of DNS, which a configuration cannot name another of. */
const DNS_PORT = 53

/** The address of this node at which guests can ask for names, by where it answers. */
export function guestDns(places: readonly DnsPlace[], own: readonly IpAddress[]): IpAddress | undefined {
  const usable = places.filter(({ port }) => port === DNS_PORT)
  return own.find((address) => usable.some(({ host }) => host === address || isEvery(host, address)))
}

/** The host stands for all addresses, or for all of IPv4. */
function isEvery(host: IpAddress | undefined, address: IpAddress): boolean {
  return host === undefined || host === '::' || (host === '0.0.0.0' && isIpv4(address))
}

/**
 * The place at which a guest most probably finds this node: where others see its socket, before the interfaces' own
 * addresses; of the Internet before private ones, IPv4 before IPv6.
 */
export function bestEndpoint(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.toSorted((one, other) => rankOf(one) - rankOf(other))[0]
}

function rankOf({ endpoint: { address }, kind }: Candidate): number {
  const isElsewhere = isPublic(hostPrefix(address)) ? 0 : 4
  return isElsewhere + (isIpv4(address) ? 0 : 2) + (kind === 'own' ? 1 : 0)
}

/** Writes what a person gave as an endpoint with the node's port, unless it names one: `vpn.example.org`. */
export function withPort(given: string, port: number): string {
  if (/^\[.*\]$/.test(given)) return `${given}:${port}`
  const colons = given.split(':').length - 1
  if (colons === 0) return `${given}:${port}`
  return colons > 1 && !given.startsWith('[') ? endpointText({ address: given as IpAddress, port }) : given
}
