/** Makes what a guest is given: the text that every WireGuard app takes, and where it finds this node. Pure. */
import type { Cidr, IpAddress } from '@mesh/core'
import { type Endpoint, endpointText } from '@mesh/engine'
import { isIpv4 } from '../addresses/ip-math.ts'
import type { Candidate } from '../paths/path-state.ts'
import { hostPrefix, hostRange, isPublic } from '../table/prefix.ts'
import { KEEPALIVE_S } from './limits.ts'

interface GuestConfigurationInit {
  readonly name: string
  readonly privateKey: string
  readonly presharedKey: string
  readonly address: IpAddress
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
  const { name, privateKey, presharedKey, address, mtu, node, reaches } = init
  return [
    `# ${name}, a guest of ${node.name}`,
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = ${hostRange(address)}`,
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

/**
 * The address at which a guest most probably finds this node: where others see its socket, before the interfaces' own
 * addresses; of the Internet before private ones, IPv4 before IPv6.
 */
export function bestEndpoint(candidates: readonly Candidate[]): Endpoint | undefined {
  return candidates.toSorted((one, other) => rankOf(one) - rankOf(other))[0]?.endpoint
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
