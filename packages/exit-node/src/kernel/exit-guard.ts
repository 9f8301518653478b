/**
 * Stops programs that bind a socket to an interface (`ping -I eth0`): IPv4 then ignores the routing rules. An nftables table lets out
 * only marked packets, packets into the VPN, and, if wanted, packets for the local network.
 *
 * Answers to TCP connections from outside go back the way they came: the table marks them like the node's own packets. A connection
 * began outside if its SYN came in, or if it stood before and leads to a listening program.
 */
import { isIP } from 'node:net'
import type { InboundConnection } from '../system/dialled-connections.ts'
import { BROAD_IPV4_BITS, BROAD_IPV6_BITS, MAX_BEGUN_CONNECTIONS } from '../limits.ts'
import { ANSWERS_CHAIN } from '../system/nft-ruleset.ts'
import { acceptRules, setTable, tableText } from '../system/nft-table.ts'

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

export const GUARD_TABLE = 'mesh_exit_guard'
/** Servers of DHCP, without whom the machine loses its address. */
const DHCP_PORTS = '{ 67, 547 }'
/** The addresses that a link of IPv6 needs for itself. */
const LINK_V6 = ['fe80::/10', 'ff02::/16']
const LINK_V4 = ['224.0.0.0/4', '255.255.255.255']

/** The table of the guard. Pure. */
export function guardTable(init: GuardInit): string {
  const { mark, interface: name, networks } = init
  const near = networks.filter(isNear)
  const output = [
    `meta mark ${mark} accept`,
    `oifname { "lo", "${name}" } accept`,
    'ct direction reply accept',
    `udp dport ${DHCP_PORTS} accept`,
    'meta l4proto { tcp, udp } th dport 53 drop',
    ...acceptRules([...(near.length === 0 ? [] : LINK_V4), ...LINK_V6, ...near]),
    'drop',
  ]
  return tableText(GUARD_TABLE, [
    { name: 'output', hook: 'type filter hook output priority filter', rules: output },
    ...(init.answered.length === 0 ? [] : answerChains(init)),
  ])
}

/** The chains of answers: connections that begin outside are noted, and what answers them is marked. */
function answerChains({ mark, interface: name, answered, begun }: GuardInit) {
  const answers = answered.map(
    (address) =>
      `ct direction reply ct mark ${mark} ${familyOf(address)} saddr ${address} meta mark set ${mark}`,
  )
  const before = begun.filter(({ local }) => answered.includes(local))
  return [
    {
      name: 'inbound',
      hook: 'type filter hook input priority mangle',
      rules: [
        `iifname != { "lo", "${name}" } ct state new ct mark 0 tcp flags & (fin | syn | rst | ack) == syn ct mark set ${mark}`,
      ],
    },
    {
      name: ANSWERS_CHAIN,
      hook: 'type route hook output priority mangle',
      rules: [...answers, ...begunRules(mark, before)],
    },
  ]
}

function begunRules(mark: number, begun: readonly InboundConnection[]): readonly string[] {
  return ['ip', 'ip6'].flatMap((family) => {
    const own = begun.filter(({ local }) => familyOf(local) === family).slice(0, MAX_BEGUN_CONNECTIONS)
    if (own.length === 0) return []
    const ends = own.map((each) => [each.local, each.localPort, each.remote, each.remotePort].join(' . '))
    const fields = `${family} saddr . tcp sport . ${family} daddr . tcp dport`
    return [`${fields} { ${[...new Set(ends)].join(', ')} } meta mark set ${mark}`]
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
      setTable(guardTable({ ...init, answered }))
      return true
    } catch {
      return false
    }
  }
  if (init.answered.length > 0 && apply(init.answered)) return 'all'
  return apply([]) ? 'withoutAnswers' : 'none'
}

/** A network that is not so large that it comes to a default route. */
function isNear(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  return family !== 0 && Number(bits) >= (family === 4 ? BROAD_IPV4_BITS : BROAD_IPV6_BITS)
}
