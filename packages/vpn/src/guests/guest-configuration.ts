/** Makes what a guest is given: the text that every WireGuard app takes, and where it finds this node. Pure. */
import type { Cidr, IpAddress } from '@mesh/core'
import { isIpv4 } from '../addresses/ip-math.ts'
import type { DnsPlace } from '../vpn.ts'
import { hostRange } from '../addresses/prefix.ts'
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
