/**
 * Stops programs that bind a socket to an interface (`ping -I eth0`): IPv4 then ignores the routing rules. An nftables table lets out
 * only marked packets, packets into the VPN, and, if wanted, packets for the local network.
 *
 * Answers to TCP connections from outside go back the way they came: the table marks them like the node's own packets. A connection
 * began outside if its SYN came in, or if it stood before and leads to a listening program.
 */
import { isIP } from 'node:net'
import type { InboundConnection } from '../system/inbound-connection.ts'
import { BROAD_IPV4_BITS, BROAD_IPV6_BITS, MAX_BEGUN_CONNECTIONS } from '../limits.ts'
import { ANSWERS_CHAIN } from '../system/nft-ruleset.ts'
import { lookSystem, runSystem, trySystem } from '../system/system-command.ts'

export interface GuardInit {
  readonly mark: number
  /** The interface of the VPN. */
  readonly interface: string
  /** The networks that this machine has routes to, `192.168.1.5/24`; none where the local network is blocked. */
  readonly networks: readonly string[]
  /** The machine's addresses whose answers go back the way that the question came. */
  readonly answered: readonly string[]
  /** The connections that others began to these addresses before the table stood. */
  readonly begun: readonly InboundConnection[]
}

const TABLE = 'mesh_exit_guard'
/** Servers of DHCP, without whom the machine loses its address. */
const DHCP_PORTS = '{ 67, 547 }'
/** The addresses that a link of IPv6 needs for itself. */
const LINK_V6 = ['fe80::/10', 'ff02::/16']
const LINK_V4 = ['224.0.0.0/4', '255.255.255.255']

/** The table as `nft -f` takes it: in one transaction, in place of the one before. Pure. */
export function guardTable(init: GuardInit): string {
  const { mark, interface: name, networks } = init
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
    ...answerChains(init),
    '}',
    '',
  ].join('\n')
}

/** The chains of answers: connections that begin outside are noted, and what answers them is marked. */
function answerChains({ mark, interface: name, answered, begun }: GuardInit): readonly string[] {
  if (answered.length === 0) return []
  const rules = answered.map(
    (address) =>
      `    ct direction reply ct mark ${mark} ${familyOf(address)} saddr ${address} meta mark set ${mark}`,
  )
  return [
    '  chain inbound {',
    '    type filter hook input priority mangle; policy accept;',
    `    iifname != { "lo", "${name}" } ct state new ct mark 0 tcp flags & (fin | syn | rst | ack) == syn ct mark set ${mark}`,
    '  }',
    `  chain ${ANSWERS_CHAIN} {`,
    '    type route hook output priority mangle; policy accept;',
    ...rules,
    ...begunRules(
      mark,
      begun.filter(({ local }) => answered.includes(local)),
    ),
    '  }',
  ]
}

function begunRules(mark: number, begun: readonly InboundConnection[]): readonly string[] {
  return ['ip', 'ip6'].flatMap((family) => {
    const own = begun.filter(({ local }) => familyOf(local) === family).slice(0, MAX_BEGUN_CONNECTIONS)
    if (own.length === 0) return []
    const ends = own.map((each) => [each.local, each.localPort, each.remote, each.remotePort].join(' . '))
    const fields = `${family} saddr . tcp sport . ${family} daddr . tcp dport`
    return [`    ${fields} { ${[...new Set(ends)].join(', ')} } meta mark set ${mark}`]
  })
}

function familyOf(address: string): 'ip' | 'ip6' {
  return isIP(address) === 6 ? 'ip6' : 'ip'
}

/** How much of it stands: all, all but the way back of answers, which kernels before 5.2 refuse, or nothing for want of nftables. */
export type GuardOutcome = 'all' | 'withoutAnswers' | 'none'

export function applyGuard(init: GuardInit): GuardOutcome {
  const apply = (answered: readonly string[]) => {
    try {
      runSystem('nft', ['-f', '-'], guardTable({ ...init, answered }))
      return true
    } catch {
      return false
    }
  }
  if (init.answered.length > 0 && apply(init.answered)) return 'all'
  return apply([]) ? 'withoutAnswers' : 'none'
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
