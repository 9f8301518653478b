/** Checks of the running node: what it says is wrong, its clock, how it is reached, and its peers. */
import { BlockList, isIP } from 'node:net'
import { DROP_REASONS, type VpnPeerView } from '@mesh/api-contract'
import { type Check, fail, ok, skip, warn } from './check.ts'
import { sentence } from './check-machine.ts'
import type { MachineFacts, NodeFacts } from './facts.ts'

/** The difference beyond which members refuse what the node writes, in ms. */
const REFUSED_CLOCK_MS = 120_000
/** A difference that a clock with NTP never has, in ms. */
const ODD_CLOCK_MS = 10_000
const LEAST_MTU = 1_280
/** How many names one line lists. */
const MAX_LISTED = 5

export function checkNode(machine: MachineFacts, node: NodeFacts): readonly Check[] {
  return [
    checkHealth(node),
    checkClock(node),
    checkAnswering(node),
    checkNat(machine, node),
    checkRelays(node),
    checkUdp(node),
    checkMtu(node),
    checkDrops(node),
    checkRules(node),
    checkDns(node),
    checkPeers(node),
    checkVersions(machine, node),
  ].flat()
}

/** Repeats what the node itself says is wrong, each by itself. */
function checkHealth({ health }: NodeFacts): readonly Check[] {
  if (health.Problems.length === 0) return [ok('health', 'The node knows of no problem.')]
  return health.Problems.map(({ Severity, Title, Hint }) =>
    (Severity === 'error' ? fail : warn)('health', sentence(Title), Hint),
  )
}

/** The part of all packets from which on drops for one reason are worth a look. */
const MUCH_DROPPED_PART = 0.01
/** Number of drops that is normal. */
const LEAST_DROPPED = 100

/** Says why packets were dropped, where they were many. */
function checkDrops({ vpn }: NodeFacts): readonly Check[] {
  if (vpn === undefined) return [skip('packets', 'The node runs no VPN.')]
  const passed = vpn.Peers.reduce((sum, { PacketsIn, PacketsOut }) => sum + PacketsIn + PacketsOut, 0)
  const much = Object.entries(vpn.Drops).filter(
    ([reason, count]) =>
      DROP_REASONS[reason]?.isLoss !== false && count > LEAST_DROPPED && count > passed * MUCH_DROPPED_PART,
  )
  if (much.length === 0) return [ok('packets', 'Few or no packets were dropped.')]
  return much.map(([reason, count]) => {
    const { title = 'They were dropped.', hint = 'See docs/OPERATION.md.' } = DROP_REASONS[reason] ?? {}
    return warn('packets', `${count} packets (${reason}): ${title}`, hint)
  })
}

/** Says which access rules are in force, and what they refused last on this node. */
function checkRules({ rules }: NodeFacts): Check {
  const isRuled = rules !== undefined && (rules.Network !== null || rules.Own !== null)
  if (!isRuled) return ok('access rules', 'There are none: every member reaches everything.')
  const { Network, Own, Refused } = rules
  const whose = [
    ...(Network === null ? [] : [`policy ${Network.Serial} of the network`]),
    ...(Own === null ? [] : [`this node's own ${Own.File}`]),
  ].join(' and ')
  const [last] = Refused.toSorted((a, b) => b.LastAt.localeCompare(a.LastAt))
  if (last === undefined) return ok('access rules', `In force: ${whose}. They refused nothing here.`)
  const total = Refused.reduce((sum, { Count }) => sum + Count, 0)
  return ok(
    'access rules',
    `In force: ${whose}. They refused ${total} flows here; the last was ${last.From.Name} to ${last.To.Name} on ${last.On}.`,
  )
}

function checkClock({ reachability }: NodeFacts): Check {
  const clock = reachability?.Clock ?? undefined
  if (clock === undefined) return skip('clock', 'Not compared: no member was heard for ten minutes.')
  const seconds = Math.round(Math.abs(clock.AheadMs) / 1_000)
  const whose = clock.Members === 1 ? "the other member's" : `the median of ${clock.Members} members'`
  const found = `This clock is ${seconds} s ${clock.AheadMs > 0 ? 'ahead of' : 'behind'} ${whose}.`
  const next = 'Let NTP set the clock (timedatectl set-ntp true); the node goes on by itself.'
  if (Math.abs(clock.AheadMs) > REFUSED_CLOCK_MS) return fail('clock', found, next)
  return Math.abs(clock.AheadMs) > ODD_CLOCK_MS ? warn('clock', found, next) : ok('clock', found)
}

function checkAnswering({ answering }: NodeFacts): Check {
  if (answering === undefined) return skip('own ports', 'Not looked at: the node runs on another machine.')
  if (answering.length === 0) return skip('own ports', 'The node listens on no TCP port.')
  const silent = answering.flatMap(({ address, tried }) =>
    tried.works ? [] : [`${address}: ${tried.reason}`],
  )
  if (silent.length === 0)
    return ok('own ports', `The node answers at all of its ${answering.length} TCP addresses.`)
  return warn(
    'own ports',
    `The node does not answer at ${silent.slice(0, MAX_LISTED).join(', ')}.`,
    'A firewall of this machine keeps connections away: allow the port, or fix it by --listen-maddrs.',
  )
}

const NOT_PUBLIC = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  NOT_PUBLIC.addSubnet(address, bits, 'ipv4')
}
NOT_PUBLIC.addSubnet('::', 127, 'ipv6')
NOT_PUBLIC.addSubnet('fc00::', 7, 'ipv6')
NOT_PUBLIC.addSubnet('fe80::', 10, 'ipv6')
NOT_PUBLIC.addSubnet('2001:db8::', 32, 'ipv6')

function checkNat(machine: MachineFacts, { reachability, vpn }: NodeFacts): Check {
  if (reachability === undefined) return skip('nat', 'Not known: the node has not joined its network yet.')
  const direct = reachability.Addresses.filter((address) => !address.includes('/p2p-circuit'))
  const publics = new Set(direct.flatMap(ipIn).filter(isPublic))
  const own = [...publics].filter((ip) => machine.addresses.includes(ip))
  const varies = vpn?.Peers.some(({ UDP }) => UDP.Reason === 'both-vary') === true
  if (own.length > 0)
    return ok('nat', `There is none: ${own.slice(0, MAX_LISTED).join(', ')} stands on an interface.`)
  if (publics.size > 0) {
    return ok('nat', `Behind a NAT that lets others in at ${[...publics].slice(0, MAX_LISTED).join(', ')}.`)
  }
  const kind = varies
    ? 'a NAT that chooses a port for each peer (symmetric)'
    : 'a NAT, or on a network of its own'
  const isRelayed = direct.length < reachability.Addresses.length
  const reached = isRelayed
    ? 'Machines elsewhere reach it over a relay, and directly where hole punching works.'
    : 'Machines elsewhere cannot begin a connection to it.'
  return warn(
    'nat',
    `Behind ${kind}. ${reached}`,
    'To be reached directly: forward a port of the router to one fixed by --listen-maddrs and announce it by --dht-announce-maddrs, or leave --natmap on where the router speaks UPnP.',
  )
}

function ipIn(address: string): string[] {
  const [, ip] = /^\/ip[46]\/([^/]+)\//.exec(address) ?? []
  return ip === undefined ? [] : [ip]
}

function isPublic(ip: string): boolean {
  const family = isIP(ip)
  return family !== 0 && !NOT_PUBLIC.check(ip, family === 6 ? 'ipv6' : 'ipv4')
}

function checkRelays({ reachability, peers }: NodeFacts): Check {
  if (reachability === undefined) return skip('relays', 'Not known: the node has not joined its network yet.')
  const way = reachability.Ways.find(({ Name }) => Name === 'relay')
  if (way?.Enabled !== true) {
    return warn(
      'relays',
      'Relays are switched off.',
      'Allow them by --autorelay: machines that no direct way reaches need one.',
    )
  }
  const through = reachability.Addresses.filter((address) => address.includes('/p2p-circuit')).length
  const relayed = peers.filter(({ Connected, Path }) => Connected && Path === 'relayed').length
  if (way.LastError !== null) {
    return warn(
      'relays',
      sentence(`a relay refused or failed: ${way.LastError}`),
      'Run a node with a public address, or allow --relay-service on one.',
    )
  }
  const found = `${through === 0 ? 'No relay is needed or reserved' : `Reachable through relays at ${through} addresses`}, ${relayed} peers are reached over one.`
  return ok('relays', found)
}

/** Why packets do not go over UDP, with what to do. */
const UDP_NEXT: Readonly<Record<string, string>> = {
  blocked: 'Let UDP out to any port, and in at the port of --udp-port where others begin.',
  'one-way': 'A firewall blocks UDP in one direction: allow it on both machines.',
  'one-varies': 'Give the machine whose NAT varies its ports a forwarded UDP port, or the other one.',
  'both-vary': 'Give one of the two machines a forwarded UDP port, or put it outside of its NAT.',
  'same-nat':
    'Let the machines reach each other in their own network (no client isolation, one network for both), or have the router lead its own address back in (hairpin, NAT loopback).',
  'too-small': `Raise the MTU on the way to ${LEAST_MTU} or more.`,
  'too-slow': 'The way takes more than a second there and back: look for a link that is full or far.',
}

function checkUdp({ vpn, node }: NodeFacts): readonly Check[] {
  if (vpn === undefined)
    return [skip('udp', node.HasVpn ? 'The VPN has not started.' : 'The node runs no VPN.')]
  const stuck = vpn.Peers.filter(({ UDP }) => UDP.Reason !== null && UDP.Reason in UDP_NEXT)
  if (stuck.length === 0) {
    const direct = vpn.Peers.filter(({ UDP }) => UDP.State !== 'none').length
    return [
      ok('udp', `Packets go over UDP to ${direct} of ${vpn.Peers.length} machines, and nothing blocks it.`),
    ]
  }
  return [...Map.groupBy(stuck, ({ UDP }) => UDP.Reason ?? '')].map(([reason, peers]) =>
    warn('udp', `Packets to ${namesOf(peers)} do not go over UDP: ${reason}.`, UDP_NEXT[reason] ?? ''),
  )
}

function checkMtu({ vpn }: NodeFacts): Check {
  if (vpn === undefined) return skip('mtu', 'The node runs no VPN.')
  if (vpn.MTU !== null && vpn.MTU < LEAST_MTU)
    return warn(
      'mtu',
      `The interface takes ${vpn.MTU} bytes, and so has no IPv6.`,
      `For IPv6 start the node with --mtu ${LEAST_MTU} or more.`,
    )
  const small = vpn.Peers.filter(({ MTU }) => MTU > 0 && MTU < LEAST_MTU)
  if (small.length === 0)
    return ok('mtu', `The interface takes ${vpn.MTU ?? 'no'} bytes, and every machine at least ${LEAST_MTU}.`)
  return warn(
    'mtu',
    `Only short packets pass to ${namesOf(small)}.`,
    `IPv6 does not work with these: raise --mtu there to ${LEAST_MTU} or more.`,
  )
}

function namesOf(peers: readonly VpnPeerView[]): string {
  const names = peers.slice(0, MAX_LISTED).map(({ Hostname, PeerID }) => Hostname || PeerID)
  return `${names.join(', ')}${peers.length > MAX_LISTED ? ` and ${peers.length - MAX_LISTED} more` : ''}`
}

function checkDns({ dns }: NodeFacts): Check {
  if (dns === undefined) return skip('dns', 'The node runs no DNS server (--dns).')
  const failing = dns.Forwarders.filter(({ LastError }) => LastError !== null)
  if (dns.Listening.length === 0) {
    return fail(
      'dns',
      'The DNS server listens nowhere.',
      'See the problems of the node; --dns names the address.',
    )
  }
  if (failing.length > 0) {
    return warn(
      'dns',
      `Servers that names are forwarded to do not answer: ${failing.map(({ Server }) => Server).join(', ')}.`,
      'Name others by --dns-forward-server.',
    )
  }
  return ok('dns', `It answers at ${dns.Listening.join(', ')} for ${dns.Names} names.`)
}

function checkPeers({ peers, health }: NodeFacts): Check {
  const members = peers.filter(({ Connected, Member }) => Connected && Member).length
  if (members > 0) return ok('peers', `${members} members are connected, ${peers.length} peers are known.`)
  const isTold = health.Problems.some(({ Code }) => Code === 'p2p.alone' || Code === 'ledger.unsigned')
  const found = 'No other member is connected.'
  if (isTold) return warn('peers', found, 'The line on health above says why.')
  return warn(
    'peers',
    found,
    'Start a node with the same token elsewhere; a node that has just started needs a minute.',
  )
}

function checkVersions({ version }: MachineFacts, { node, machines, peers }: NodeFacts): Check {
  if (node.Version !== version) {
    return warn(
      'versions',
      `This program is ${version}, the running node ${node.Version}.`,
      'Restart the node, so that both are of the same version.',
    )
  }
  const agents = peers.flatMap(({ Member, Agent, ID }) => {
    const [, told] = /^mesh\/(\S+)/.exec(Agent ?? '') ?? []
    return Member && told !== undefined ? [[ID, told] as const] : []
  })
  const told = new Map(agents)
  for (const { PeerID, Version } of machines)
    if (Version !== '' && !told.has(PeerID)) told.set(PeerID, Version)
  told.delete(node.PeerID)
  const others = [...told.values()].filter((each) => each !== version)
  if (others.length === 0)
    return ok('versions', `The node and ${told.size} peers that say theirs run ${version}.`)
  const kinds = [...new Set(others)].toSorted().slice(0, MAX_LISTED).join(', ')
  return warn(
    'versions',
    `${others.length} of ${told.size} peers run other versions than ${version}: ${kinds}.`,
    'They work together; what only one version knows, the others go without. Update the older ones.',
  )
}
