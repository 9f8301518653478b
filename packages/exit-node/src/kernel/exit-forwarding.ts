/**
 * Does what an exit does for members: their packets to the Internet leave with this machine's address, by an nftables table
 * that holds nothing else. Members' queries to DNS servers of their own local networks are answered by this machine's.
 */
import type { MeshError } from '@mesh/core'
import { refusalOf, removeTable, setTable, tableSuffix, tableText } from '../system/nft-table.ts'
import { exitError } from '../system/system-command.ts'

export interface ForwardingInit {
  readonly interface: string
  /** The VPN's ranges, as `10.1.0.0/24`. */
  readonly ranges: readonly string[]
  /** The networks that this node advertises: what goes there keeps its source. */
  readonly advertised: readonly string[]
  /** The machine's DNS servers. */
  readonly resolvers: readonly string[]
}

/** Ranges in which a member's own network has its DNS server, and which no exit can reach. */
const LOCAL_V4 = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
const LOCAL_V6 = ['fc00::/7', 'fe80::/10']

/** The addresses that no member may reach through an exit: this machine itself, its link, and groups. */
const NEVER_V4 = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3']
const NEVER_V6 = ['::1/128', 'fe80::/10', 'ff00::/8']

export function tableName(interfaceName: string): string {
  return `mesh_exit_${tableSuffix(interfaceName)}`
}

/** The table of an exit. Pure. */
export function forwardingTable({ interface: name, ranges, advertised, resolvers }: ForwardingInit): string {
  const from = `iifname "${name}"`
  const families = [
    { ip: 'ip', is: (text: string) => !text.includes(':'), local: LOCAL_V4, never: NEVER_V4 },
    { ip: 'ip6', is: (text: string) => text.includes(':'), local: LOCAL_V6, never: NEVER_V6 },
  ]
  const forward = [`${from} oifname "${name}" drop`]
  const [source, destination]: [string[], string[]] = [[], []]
  for (const { ip, is, local, never } of families) {
    const [own, kept] = [ranges.filter(is), [...ranges, ...advertised].filter(is)]
    const resolver = resolvers.find(is)
    forward.push(`${from} ${ip} daddr { ${never.join(', ')} } drop`)
    if (own.length === 0) continue
    source.push(
      `oifname != "${name}" ${ip} saddr { ${own.join(', ')} } ${ip} daddr != { ${kept.join(', ')} } masquerade`,
    )
    if (resolver === undefined) continue
    for (const protocol of ['udp', 'tcp']) {
      destination.push(
        `${from} ${ip} daddr { ${local.join(', ')} } ${ip} daddr != { ${kept.join(', ')} } ${protocol} dport 53 dnat ${ip} to ${ip === 'ip' ? resolver : `[${resolver}]`}`,
      )
    }
  }
  return tableText(tableName(name), [
    { name: 'forward', hook: 'type filter hook forward priority filter', rules: forward },
    { name: 'postrouting', hook: 'type nat hook postrouting priority srcnat', rules: source },
    { name: 'prerouting', hook: 'type nat hook prerouting priority dstnat', rules: destination },
  ])
}

/** @throws MeshError `exit.no_nftables` */
export function applyForwarding(init: ForwardingInit): void {
  try {
    setTable(forwardingTable(init))
  } catch (error) {
    throw noNftables(error)
  }
}

/** Says why there is no nftables for an exit. */
export function noNftables(error: unknown): MeshError {
  const { isMissing, why } = refusalOf(error)
  return exitError(
    'exit.no_nftables',
    isMissing
      ? 'an exit needs the command `nft`, which is not installed'
      : `nftables refused the table of the exit: ${why}`,
    isMissing
      ? 'Install nftables, or start without --advertise-exit.'
      : 'An exit needs root, and nftables with NAT in the kernel (nft_masq, nft_nat).',
    error,
  )
}

export function undoForwarding(table: string): void {
  if (/^mesh_exit_\w+$/.test(table)) removeTable(table)
}
