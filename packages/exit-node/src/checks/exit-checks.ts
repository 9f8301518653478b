/** Finds what disturbs a machine that uses an exit, by name and with what to do. The reading of files and commands is handed in. */
import type { VpnProblem } from '@mesh/vpn'
import { answeredPast, foreignRules } from '../system/foreign-rules.ts'
import type { InboundConnection } from '../system/dialled-connections.ts'
import { FIRST_PREFERENCE } from '../limits.ts'
import { markingChains, outgoingDroppingChains, strictFilterChains } from '../system/nft-ruleset.ts'

/** How this machine is set up. */
export interface HostFacts {
  /** The addresses of interfaces outside of the VPN. */
  readonly networks: readonly { readonly interface: string; readonly address: string }[]
  /** `net.ipv4.conf.NAME.rp_filter`; undefined: there is none. */
  readonly rpFilter: (name: string) => number | undefined
  /** The output of `ip rule show`, of both families. */
  readonly rules: string
  /** The output of `nft list ruleset`; '' where it cannot be had. */
  readonly ruleset: string
  /** True where systemd-resolved asks servers by interface, and could not be told of the exit. */
  readonly isResolvedPast: boolean
  /** Answers to those who connect over TCP to this machine's own addresses go back the way they came. */
  readonly keepsAnswers: boolean
  /** The connections that others began to programs of this machine. */
  readonly connections: readonly InboundConnection[]
}

/** The interfaces whose strict filter drops the answers to this node's own packets. */
export function strictInterfaces({
  networks,
  rpFilter,
}: Pick<HostFacts, 'networks' | 'rpFilter'>): readonly string[] {
  const all = rpFilter('all') ?? 0
  const names = new Set(networks.map((network) => network.interface))
  return [...names].filter((name) => name !== 'lo' && Math.max(all, rpFilter(name) ?? 0) === 1)
}

/** The problems of a machine that uses an exit. */
export function findRoutingProblems(facts: HostFacts): readonly VpnProblem[] {
  return [
    ...strictFilter(facts),
    ...strictFirewall(facts),
    ...otherRules(facts),
    ...otherMarks(facts),
    ...outgoingFirewall(facts),
    ...inbound(facts),
    ...resolved(facts),
  ]
}

function strictFilter(facts: HostFacts): VpnProblem[] {
  return strictInterfaces(facts).map((name) => ({
    code: 'exit.rp_filter',
    severity: 'error',
    title: `rp_filter is strict on ${name}: answers to this node are dropped while an exit node is used`,
    hint: strictHint(name),
  }))
}

/** A firewall can do what rp_filter does, of IPv6 too. */
function strictFirewall({ ruleset }: HostFacts): VpnProblem[] {
  const names = strictFilterChains(ruleset)
  if (names.length === 0) return []
  return [
    {
      code: 'exit.rp_filter',
      severity: 'error',
      title: `A firewall filters strictly by the way back (chain ${names.slice(0, 3).join(', ')}): answers to this node are dropped while an exit node is used`,
      hint: 'Make it loose: `IPv6_rpfilter=loose` in firewalld.conf, `networking.firewall.checkReversePath = "loose"` on NixOS, or take `iif` out of that rule.',
    },
  ]
}

export function strictHint(name: string): string {
  return `Make it loose: \`sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.${name}.rp_filter=2\`.`
}

function otherRules({ rules }: HostFacts): VpnProblem[] {
  const found = foreignRules(rules)
  if (found.length === 0) return []
  const isBefore = found.some((rule) => Number.parseInt(rule, 10) < FIRST_PREFERENCE)
  const effect = isBefore
    ? 'some come before those of the exit node, and may lead packets past it'
    : 'they have no effect while an exit node is used'
  return [
    {
      code: 'exit.foreign_rules',
      severity: isBefore ? 'error' : 'warning',
      title: `Another program has routing rules; ${effect}: ${found.slice(0, 3).join('; ')}`,
      hint: 'Another VPN (wg-quick, Tailscale) or a firewall made them (`ip rule`): use one of the two at a time.',
    },
  ]
}

/** Marks that others set on packets of this machine replace this node's, and with it their way past the exit. */
function otherMarks({ ruleset }: HostFacts): VpnProblem[] {
  const names = markingChains(ruleset)
  if (names.length === 0) return []
  return [
    {
      code: 'exit.foreign_marks',
      severity: 'warning',
      title: `A firewall marks packets that leave this machine (chain ${names.slice(0, 3).join(', ')})`,
      hint: 'If this node reaches no peers, let it keep its own mark: `meta mark 0x6d657368 accept` at the top of that chain (or the number of --fwmark).',
    },
  ]
}

/** It drops the packets to peers, too, where it does not know them: then the exit is gone, and looks as if it were at fault. */
function outgoingFirewall({ ruleset }: HostFacts): VpnProblem[] {
  const names = outgoingDroppingChains(ruleset)
  if (names.length === 0) return []
  return [
    {
      code: 'exit.outgoing_firewall',
      severity: 'warning',
      title: `A firewall, or another VPN, drops what it does not know of what this machine sends (chain ${names.slice(0, 3).join(', ')})`,
      hint: 'If this node reaches no peers, or not its exit, let its packets pass: `meta mark 0x6d657368 accept` at the top of that chain (or the number of --fwmark); or use one VPN at a time.',
    },
  ]
}

const PRIVATE =
  /^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe[89ab]|::1$)/i

/** The addresses of this machine at which others reach it from elsewhere, whose answers are led into the exit. */
function inbound({ networks, connections, rules, keepsAnswers }: HostFacts): VpnProblem[] {
  const own = networks.filter((network) => network.interface !== 'lo').map(({ address }) => address)
  const reached = connections.filter(({ remote }) => !PRIVATE.test(remote)).map(({ local }) => local)
  const past = answeredPast(rules)
  const open = own.filter(
    (address) => (!PRIVATE.test(address) || reached.includes(address)) && !past.includes(address),
  )
  const [address] = open
  if (address === undefined) return []
  const at = open.slice(0, 3).join(', ')
  if (keepsAnswers) {
    return [
      {
        code: 'exit.inbound',
        severity: 'warning',
        title: `Anyone who connects over TCP to this machine at ${at} from elsewhere is answered past the exit node, from that address`,
        hint: 'So a login over SSH stays. If nobody is to find this machine there, let a firewall drop what comes in; with --exit-node-block-lan answers are led into the exit.',
      },
    ]
  }
  const ip = address.includes(':') ? 'ip -6' : 'ip'
  return [
    {
      code: 'exit.inbound',
      severity: 'warning',
      title: `Anyone who connects to this machine at ${at} from elsewhere is answered through the exit node, and gets no answer`,
      hint: `Reach it over the VPN; or let answers go back the way they came: \`${ip} rule add from ${address} lookup main pref ${FIRST_PREFERENCE - 1}\`.`,
    },
  ]
}

function resolved({ isResolvedPast }: HostFacts): VpnProblem[] {
  if (!isResolvedPast) return []
  return [
    {
      code: 'exit.resolved',
      severity: 'warning',
      title: 'systemd-resolved asks DNS servers by interface, which an exit node does not let pass',
      hint: 'Start the node with --exit-node, and without --dns-forwarder=false, so that its own server is asked for all names; or give it another by hand: `resolvectl dns mesh0 9.9.9.9 && resolvectl domain mesh0 "~."`.',
    },
  ]
}

/** The problem of a machine without nftables that uses an exit. */
export function noGuard(): VpnProblem {
  return {
    code: 'exit.no_guard',
    severity: 'warning',
    title:
      'Programs that choose an interface themselves (`ping -I eth0`) are not kept from going past the exit node',
    hint: 'Install nftables (`nft`, and nf_tables in the kernel), and restart the node.',
  }
}
