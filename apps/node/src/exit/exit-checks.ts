/** Finds what on this machine disturbs an exit, by name and with what to do. The reading of files and commands is handed in. */
import type { VpnProblem } from '@mesh/vpn'
import { foreignRules } from './foreign-rules.ts'
import { FIRST_PREFERENCE } from './limits.ts'

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
  /** True where systemd-resolved answers what `/etc/resolv.conf` names. */
  readonly hasResolved: boolean
}

/** The interfaces whose strict filter drops the answers to this node's own packets. */
export function strictInterfaces({ networks, rpFilter }: HostFacts): readonly string[] {
  const all = rpFilter('all') ?? 0
  const names = new Set(networks.map((network) => network.interface))
  return [...names].filter((name) => name !== 'lo' && Math.max(all, rpFilter(name) ?? 0) === 1)
}

/** The problems of a machine that uses an exit. */
export function findRoutingProblems(facts: HostFacts): readonly VpnProblem[] {
  return [
    ...strictFilter(facts),
    ...otherRules(facts),
    ...otherMarks(facts),
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
  const chains = ruleset.split(/^\s*chain /m).slice(1)
  const marking = chains.filter(
    (text) => /hook (output|postrouting)/.test(text) && /(meta mark set|MARK)/.test(text),
  )
  if (marking.length === 0) return []
  const names = marking.map((text) => text.split(/[\s{]/)[0] ?? '')
  return [
    {
      code: 'exit.foreign_marks',
      severity: 'warning',
      title: `A firewall marks packets that leave this machine (chain ${names.slice(0, 3).join(', ')})`,
      hint: 'If this node reaches no peers, let it keep its own mark: `meta mark 0x6d657368 accept` at the top of that chain (or the number of --fwmark).',
    },
  ]
}

const PRIVATE =
  /^(10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe[89ab]|::1$)/i

function inbound({ networks }: HostFacts): VpnProblem[] {
  const open = networks.filter((network) => network.interface !== 'lo' && !PRIVATE.test(network.address))
  const [first] = open
  if (first === undefined) return []
  const { address } = first
  const ip = address.includes(':') ? 'ip -6' : 'ip'
  return [
    {
      code: 'exit.inbound',
      severity: 'warning',
      title: `Whoever connects to this machine at ${open
        .map((each) => each.address)
        .slice(0, 3)
        .join(', ')} is answered through the exit node, and gets no answer`,
      hint: `Reach it over the VPN; or let answers go back the way they came: \`${ip} rule add from ${address} lookup main pref ${FIRST_PREFERENCE - 1}\`.`,
    },
  ]
}

function resolved({ hasResolved }: HostFacts): VpnProblem[] {
  if (!hasResolved) return []
  return [
    {
      code: 'exit.resolved',
      severity: 'warning',
      title: 'systemd-resolved asks DNS servers by interface, which an exit node does not let pass',
      hint: 'Give it a server that is asked through the exit: `resolvectl dns mesh0 9.9.9.9 && resolvectl domain mesh0 "~."`.',
    },
  ]
}

/** The problems of a machine that is an exit: a firewall that drops what it is to forward. */
export function findForwardingProblems(ruleset: string, hasResolver: boolean): readonly VpnProblem[] {
  const chains = ruleset.split(/^\s*chain /m).slice(1)
  const dropping = chains.filter((text) => /hook forward [^;]*; policy drop/.test(text))
  const names = dropping.map((text) => text.split(/[\s{]/)[0] ?? '')
  return [
    ...(names.length === 0
      ? []
      : [
          {
            code: 'exit.firewall',
            severity: 'warning' as const,
            title: `A firewall drops what it does not know of forwarded packets (chain ${names.slice(0, 3).join(', ')})`,
            hint: 'Let it pass what comes from the interface of the VPN and the answers: with Docker `iptables -I DOCKER-USER -i mesh0 -j ACCEPT` and `-o mesh0`.',
          },
        ]),
    ...(hasResolver
      ? []
      : [
          {
            code: 'exit.no_resolver',
            severity: 'warning' as const,
            title: 'This exit has no DNS server to send members to, whose own is in their local network',
            hint: 'Name one in /etc/resolv.conf that is not of this machine itself, and restart the node.',
          },
        ]),
  ]
}

/** The problem of a machine without nftables that uses an exit. */
export function noGuard(): VpnProblem {
  return {
    code: 'exit.no_guard',
    severity: 'warning',
    title:
      'Programs that choose an interface themselves (`ping -I eth0`) are not kept from going past the exit node',
    hint: 'Install nftables (`nft`), and restart the node.',
  }
}
