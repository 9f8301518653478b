/** `mesh status`: who the node is, problems, then its machines, and whom it reaches. */
import { type ApiClient, ApiError } from '@mesh/api-client'
import { DROP_REASONS } from '@mesh/api-contract'
import type {
  DnsServerView,
  GuestView,
  HealthView,
  NodeFactsView,
  RulesView,
  VpnPeerView,
  VpnView,
} from '@mesh/api-contract'
import { printable, shortPeerId } from '@mesh/core'
import { CONTROL_SOCKET } from '../../state/instance-folder.ts'
import { asking } from '../asking.ts'
import { formatBytes, formatTimeSpan } from '../../words/format-quantity.ts'
import { byAddress, formatPeers, formatReach, formatRoundTrip, titledTable } from './peer-table.ts'
import { wayOf } from './packet-way.ts'

export const runStatus = asking(readStatus, (status, { settings }) => formatStatus(status, settings))

type Status = Awaited<ReturnType<typeof readStatus>>

async function readStatus(client: ApiClient) {
  const [node, summary, version, health, digest, peers, vpn, dns, guests, rules] = await Promise.all([
    nullWithout(client.getNode()),
    client.getSummary(),
    client.getVersion(),
    client.getHealth(),
    client.getDigest(),
    client.listPeers(),
    nullWithout(client.getVpn()),
    nullWithout(client.getDnsServer()),
    nullWithout(client.listGuests()),
    nullWithout(client.getRules()),
  ])
  return {
    Node: node,
    Summary: summary,
    Version: version.Version,
    Health: health,
    Digest: digest,
    Peers: peers,
    Vpn: vpn,
    Dns: dns,
    Guests: guests ?? [],
    Rules: rules,
  }
}

/** Null where the node has none, or is older than the request. */
async function nullWithout<View>(asked: Promise<View>): Promise<View | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** Prints the lines that people read. */
export function formatStatus(
  { Node, Summary, Version, Health, Digest, Peers, Vpn, Dns, Guests, Rules }: Status,
  { verbose = false }: { readonly verbose?: boolean } = {},
): string {
  const members = Peers.filter((peer) => peer.Connected && peer.Member).length
  const lines = [
    ...(Node === null ? [`node      ${Summary.NodeID} (mesh ${Version})`] : nodeLines(Node)),
    ...Health.Problems.map(formatProblem),
    `members   ${members} connected, ${Summary.OnChainNodes} on the topic, ${Peers.length} peers known`,
    `ledger    block ${Summary.BlockChain}, ${Digest.Entries} entries, digest ${Digest.Digest.slice(0, 16)}, ownership ${Health.Ownership}`,
    ...(Vpn === null ? [] : vpnLines(Vpn)),
    ...(Dns === null ? [] : [dnsLine(Dns)]),
    ...(Rules === null ? [] : rulesLines(Rules)),
  ]
  const machines = titledTable(MACHINE_COLUMNS, (Vpn?.Peers ?? []).toSorted(byAddress).map(machineRow))
  const reach = verbose ? formatReach(Peers) : ''
  const guests = titledTable(GUEST_COLUMNS, Guests.map(guestRow))
  return `${lines.join('\n')}\n${machines}${guests}${formatPeers(Peers)}${reach}`
}

function nodeLines({ Name, PeerID, Network, Instance, Listen, ...rest }: NodeFactsView): readonly string[] {
  const { Version, StartedAt, UptimeSeconds } = rest
  const places = Listen.filter((url) => !url.endsWith(`/${CONTROL_SOCKET}`))
  return [
    `node      ${Name === '' ? PeerID : `${Name} (${PeerID})`}`,
    `network   ${Network}, instance ${Instance}`,
    `api       ${places.join(' and ') || 'on the control socket only'}`,
    `running   for ${formatTimeSpan(UptimeSeconds)}, since ${StartedAt}, mesh ${Version}`,
  ].map(printable)
}

/** Nothing where everything is allowed and nothing was refused. */
function rulesLines({ Network, Own, Refused }: RulesView): readonly string[] {
  const parts = [
    ...(Network === null ? [] : [`policy ${Network.Serial} of the network`]),
    ...(Own === null ? [] : [`own rules of ${Own.File}`]),
  ]
  const [last] = Refused
  const refused =
    last === undefined
      ? []
      : [`refused   ${last.From.Name} to ${last.To.Name} on ${last.On}, ${last.Count} times`]
  return [...(parts.length === 0 ? [] : [`rules     ${parts.join(', ')}`]), ...refused].map(printable)
}

const isLoss = (reason: string) => DROP_REASONS[reason]?.isLoss !== false

function vpnLines({ State, Interface, MTU, Addresses, Routes, Drops, ...exits }: VpnView): readonly string[] {
  const device = Interface === null ? [] : [`${Interface} with MTU ${MTU}`]
  const accepted = Routes.Accepted.map(
    ({ CIDR, PeerID, Standby }) => `${CIDR} by ${shortPeerId(PeerID)}${standbyText(Standby)}`,
  )
  const dropped = Object.entries(Drops)
    .filter(([reason]) => isLoss(reason))
    .toSorted(([, a], [, b]) => b - a)
  return [
    `vpn       ${[State, ...device, ...Addresses].join(', ')}`,
    ...(Routes.Advertised.length === 0 ? [] : [`routes    advertises ${advertisedText(Routes)}`]),
    ...(accepted.length === 0 ? [] : [`routes    reaches ${accepted.join(', ')}`]),
    ...exitLines(exits),
    ...dropped.map(
      ([reason, count]) => `dropped   ${count} packets (${reason}): ${DROP_REASONS[reason]?.title ?? ''}`,
    ),
  ].map(printable)
}

/** Names the networks of this node; where others advertise one too, it says whether this node goes first. */
function advertisedText({ Advertised, Own }: VpnView['Routes']): string {
  const textOf = (range: string) => {
    const own = Own.find(({ CIDR }) => CIDR === range)
    if (own === undefined || own.Others.length === 0) return range
    return `${range} (${own.State}, also by ${own.Others.map(shortPeerId).join(' and ')})`
  }
  return Advertised.map(textOf).join(', ')
}

function standbyText(peers: readonly string[]): string {
  return peers.length === 0 ? '' : ` (on standby: ${peers.map(shortPeerId).join(' and ')})`
}

export function exitLines({
  ExitNode,
  OffersExit,
}: Pick<VpnView, 'ExitNode' | 'OffersExit'>): readonly string[] {
  const families = (all: readonly string[]) => all.map((family) => family.replace('ip', 'IP')).join(' and ')
  const lines: string[] = []
  if (OffersExit !== null)
    lines.push(
      `exit      offered to members for ${families(OffersExit) || 'nothing: this machine forwards nothing'}`,
    )
  if (ExitNode !== null) {
    const { Wanted, PeerID, Hostname, State, Families, Standby } = ExitNode
    const who = PeerID === null ? Wanted : `${Hostname || Wanted} (${shortPeerId(PeerID)})`
    const how =
      State === 'up' ? `up, for ${families(Families)}` : `${State}: packets to the Internet are dropped`
    lines.push(`exit      by ${who}, ${how}${standbyText(Standby)}`)
  }
  return lines
}

function dnsLine({ Zone, Listening, Names, Patterns, Forwarders }: DnsServerView): string {
  const known = `${Names} names in ${Zone} and of addresses, ${Patterns} patterns`
  const others =
    Forwarders.length === 0
      ? 'forwards nothing'
      : `forwards to ${Forwarders.map(({ Server }) => Server).join(', ')}`
  return printable(`dns       ${Listening.join(', ')}: ${known}, ${others}`)
}

function formatProblem({ Severity, Title, Hint }: HealthView['Problems'][number]): string {
  return `${Severity === 'error' ? 'ERROR' : 'warning'}: ${printable(Title)}\n  ${printable(Hint)}`
}

const MACHINE_COLUMNS = ['ADDRESS', 'NAME', 'PEER', 'WAY', 'ROUND TRIP', 'MTU', 'IN', 'OUT', 'DROPPED']

const GUEST_COLUMNS = ['ADDRESS', 'GUEST', 'LAST HANDSHAKE', 'FROM', 'IN', 'OUT']

function guestRow({ Name, Address, Handshake, Endpoint, BytesIn, BytesOut }: GuestView): readonly string[] {
  return [Address, Name, Handshake ?? 'none', Endpoint ?? '-', formatBytes(BytesIn), formatBytes(BytesOut)]
}

function machineRow(machine: VpnPeerView): readonly string[] {
  const { Addresses, Hostname, PeerID, RoundTripMs, MTU, BytesIn, BytesOut, Drops } = machine
  return [
    Addresses[0] ?? '-',
    Hostname === '' ? '-' : Hostname,
    shortPeerId(PeerID),
    wayOf(machine),
    formatRoundTrip(RoundTripMs),
    String(MTU),
    formatBytes(BytesIn),
    formatBytes(BytesOut),
    String(Object.entries(Drops).reduce((sum, [reason, count]) => sum + (isLoss(reason) ? count : 0), 0)),
  ]
}
