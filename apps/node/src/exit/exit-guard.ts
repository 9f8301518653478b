/**
 * Stops what no routing rule can: a program that binds its socket to an interface (`ping -I eth0`) is taken by IPv4 for
 * one that knows its way, whatever the rules say. An nftables table lets out of this machine only what is marked, what
 * goes into the VPN, and what is for the local network, if that is kept.
 */
import { isIP } from 'node:net'
import { BROAD_IPV4_BITS, BROAD_IPV6_BITS } from './limits.ts'
import { lookSystem, runSystem, trySystem } from './system-command.ts'

export interface GuardInit {
  readonly mark: number
  /** The interface of the VPN. */
  readonly interface: string
  /** The networks that this machine has routes to, `192.168.1.5/24`; none where the local network is blocked. */
  readonly networks: readonly string[]
}

const TABLE = 'mesh_exit_guard'
/** Servers of DHCP, without whom the machine loses its address. */
const DHCP_PORTS = '{ 67, 547 }'
/** The addresses that a link of IPv6 needs for itself. */
const LINK_V6 = ['fe80::/10', 'ff02::/16']
const LINK_V4 = ['224.0.0.0/4', '255.255.255.255']

/** The table as `nft -f` takes it: in one transaction, in place of the one before. Pure. */
export function guardTable({ mark, interface: name, networks }: GuardInit): string {
  const near = networks.filter(isNear)
  // one rule each: ranges of one set must not overlap
  const kept = [...(near.length === 0 ? [] : LINK_V4), ...LINK_V6, ...near].map(
    (range) => `${range.includes(':') ? 'ip6' : 'ip'} daddr ${range} accept`,
  )
  return [
    `table inet ${TABLE} {}`,
    `delete table inet ${TABLE}`,
    `table inet ${TABLE} {`,
    '  chain output {',
    '    type filter hook output priority filter; policy accept;',
    `    meta mark ${mark} accept`,
    `    oifname { "lo", "${name}" } accept`,
    '    ct direction reply accept',
    `    udp dport ${DHCP_PORTS} accept`,
    '    meta l4proto { tcp, udp } th dport 53 drop',
    ...kept.map((rule) => `    ${rule}`),
    '    drop',
    '  }',
    '}',
    '',
  ].join('\n')
}

/** False: it was not set, for want of nftables. */
export function applyGuard(init: GuardInit): boolean {
  try {
    runSystem('nft', ['-f', '-'], guardTable(init))
    return true
  } catch {
    return false
  }
}

/** False: it is not there, or nobody can say. */
export async function hasGuard(): Promise<boolean> {
  return (await lookSystem('nft', ['list', 'table', 'inet', TABLE])) !== undefined
}

/** The same as `hasGuard`, at once. */
export function isGuarded(): boolean {
  return trySystem('nft', ['list', 'table', 'inet', TABLE]) !== undefined
}

export function undoGuard(): void {
  trySystem('nft', ['delete', 'table', 'inet', TABLE])
}

/** A network that is not so large that it comes to a default route. */
function isNear(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  return family !== 0 && Number(bits) >= (family === 4 ? BROAD_IPV4_BITS : BROAD_IPV6_BITS)
}
