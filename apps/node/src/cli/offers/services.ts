/** `mesh services`: what this node offers and connects to, and what members offer; and the commands that end it. */
import type { ApiClient } from '@mesh/api-client'
import type {
  FileView,
  NodeConnectionView,
  NodeEgressView,
  NodeFileView,
  NodeServiceView,
  NodeDownloadView,
  ServiceView,
} from '@mesh/api-contract'
import { shortPeerId } from '@mesh/core'
import { asking } from '../asking.ts'
import type { Call, Run } from '../command.ts'
import { requireCommonNode } from './common-node.ts'
import { formatBytes } from '../../words/format-quantity.ts'
import { formatTable } from '../format-table.ts'
import { printableJson } from '../../words/printable.ts'

export const runServices = asking(readServices, formatServices)

export const runServiceRemove: Run = (call) =>
  remove(call, (client, name) => client.deleteNodeService({ name }), 'is not offered any more')
export const runServiceDisconnect: Run = (call) =>
  remove(call, (client, name) => client.deleteNodeConnection({ name }), 'is not reachable here any more')
export const runFileRemove: Run = (call) =>
  remove(call, (client, name) => client.deleteNodeFile({ name }), 'is not offered any more')

async function remove(
  call: Call,
  ask: (client: ApiClient, name: string) => Promise<object>,
  told: string,
): Promise<number> {
  const [name = ''] = call.positionals
  const view = await ask(await requireCommonNode(call), name)
  call.out(call.settings.json ? printableJson(view) : `${name} ${told}\n`)
  return 0
}

type View = Awaited<ReturnType<typeof readServices>>

async function readServices(client: ApiClient) {
  const [node, services, connections, files, downloads, egress, offered, shared] = await Promise.all([
    client.getNode(),
    client.listNodeServices(),
    client.listNodeConnections(),
    client.listNodeFiles(),
    client.listNodeDownloads(),
    client.getNodeEgress(),
    client.listServices(),
    client.listFiles(),
  ])
  const isOthers = ({ PeerID }: ServiceView | FileView) => PeerID !== node.PeerID
  return {
    Services: services,
    Connections: connections,
    Files: files,
    Downloads: downloads,
    Egress: egress,
    Members: { Services: offered.filter(isOthers), Files: shared.filter(isOthers) },
  }
}

/** Prints the lines that people read. */
export function formatServices({ Services, Connections, Files, Downloads, Egress, Members }: View): string {
  const tables = [
    table(
      'Offered by this node',
      ['SERVICE', 'TARGET', 'STATE', 'OPEN', 'IN', 'OUT', 'LAST ERROR'],
      Services.map(serviceRow),
    ),
    table(
      'Connected by this node',
      ['SERVICE', 'LISTEN', 'STATE', 'PROVIDER', 'PROVIDERS', 'OPEN', 'IN', 'OUT', 'LAST ERROR'],
      Connections.map(connectionRow),
    ),
    table(
      'Files of this node',
      ['FILE', 'PATH', 'STATE', 'RECEIVERS', 'COMPLETED', 'LAST ERROR'],
      Files.map(fileRow),
    ),
    table(
      'Fetched by this node',
      ['FILE', 'TO', 'STATE', 'SENDER', 'BYTES', 'RATE', 'LAST ERROR'],
      Downloads.map(downloadRow),
    ),
    table(
      'Way out that this node is',
      ['OPEN', 'CONNECTIONS', 'IN', 'OUT', 'REFUSED'],
      Egress.Offered === null ? [] : [egressRow(Egress.Offered)],
    ),
    table(
      'Proxy of this node',
      ['LISTEN', 'LEAVES THROUGH', 'OPEN', 'IN', 'OUT', 'LAST ERROR'],
      Egress.Proxy === null ? [] : [proxyRow(Egress.Proxy)],
    ),
    table(
      'Services of members',
      ['SERVICE', 'PROVIDER', 'PROVIDERS'],
      Members.Services.map(memberServiceRow),
    ),
    table('Files of members', ['FILE', 'SENDER'], Members.Files.map(memberRow)),
  ].filter((text) => text !== '')
  if (tables.length > 0) return tables.join('\n')
  return 'Nobody offers a service or a file. `mesh service-add NAME TARGET` and `mesh file-send NAME PATH` do.\n'
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `${title}\n${formatTable(head, rows)}`
}

function serviceRow(service: NodeServiceView): readonly string[] {
  const { Name, Target, State, Owner, OpenConnections, BytesIn, BytesOut, LastError } = service
  const state = Owner === null ? State : `${State} (beside ${shortPeerId(Owner)})`
  return [
    Name,
    Target,
    state,
    String(OpenConnections),
    formatBytes(BytesIn),
    formatBytes(BytesOut),
    LastError ?? '',
  ]
}

function connectionRow(connection: NodeConnectionView): readonly string[] {
  const { Name, Listen, State, Provider, Providers, Path, Transport } = connection
  const { OpenConnections, BytesIn, BytesOut, LastError } = connection
  return [
    Name,
    Listen,
    joined([State, wayOf({ Path, Transport })]),
    Provider === null ? '-' : shortPeerId(Provider),
    String(Providers),
    String(OpenConnections),
    formatBytes(BytesIn),
    formatBytes(BytesOut),
    LastError ?? '',
  ]
}

function fileRow({
  Name,
  Path,
  State,
  Owner,
  LeftOut,
  Receivers,
  Completed,
  LastError,
}: NodeFileView): readonly string[] {
  const state = Owner === null ? State : `${State} (by ${shortPeerId(Owner)})`
  const ways = [...new Set(Receivers.map(wayOf))]
  return [
    Name,
    Path,
    joined([state, LeftOut === 0 ? '' : `${LeftOut} left out`]),
    joined([String(Receivers.length), ...ways]),
    String(Completed),
    LastError ?? '',
  ]
}

function downloadRow(download: NodeDownloadView): readonly string[] {
  const { Name, Destination, State, Provider, Bytes, TotalBytes, Rate, LastError } = download
  return [
    Name,
    Destination,
    joined([State, wayOf(download)]),
    Provider === null ? '-' : shortPeerId(Provider),
    TotalBytes === null ? formatBytes(Bytes) : `${formatBytes(Bytes)} of ${formatBytes(TotalBytes)}`,
    `${formatBytes(Math.round(Rate))}/s`,
    LastError ?? '',
  ]
}

function egressRow(egress: NonNullable<NodeEgressView['Offered']>): readonly string[] {
  const { OpenConnections, Connections, BytesIn, BytesOut, Refusals } = egress
  const refused = Object.values(Refusals).reduce((sum, count) => sum + count, 0)
  return [OpenConnections, Connections, formatBytes(BytesIn), formatBytes(BytesOut), refused].map(String)
}

function proxyRow(proxy: NonNullable<NodeEgressView['Proxy']>): readonly string[] {
  const { Listen, Egress, OpenConnections, BytesIn, BytesOut, LastError } = proxy
  return [
    Listen,
    joined([Egress === null ? '-' : shortPeerId(Egress), wayOf(proxy)]),
    String(OpenConnections),
    formatBytes(BytesIn),
    formatBytes(BytesOut),
    LastError ?? '',
  ]
}

/** `direct tcp tls`; empty while there is none. */
function wayOf({ Path, Transport }: Pick<NodeConnectionView, 'Path' | 'Transport'>): string {
  return [Path, Transport].filter((part) => part !== null).join(' ')
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ')
}

function memberRow({ Name, PeerID }: ServiceView | FileView): readonly string[] {
  return [Name, shortPeerId(PeerID)]
}

function memberServiceRow({ Name, PeerID, Providers = [] }: ServiceView): readonly string[] {
  return [Name, shortPeerId(PeerID), String(1 + Providers.length)]
}
