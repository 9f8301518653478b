/** `mesh services`: what this node offers and connects to, and what members offer; and the commands that end it. */
import type { ApiClient } from '@mesh/api-client'
import type {
  FileView,
  NodeConnectionView,
  NodeFileView,
  NodeServiceView,
  ServiceView,
} from '@mesh/api-contract'
import { shortPeerId } from '@mesh/core'
import type { Call, Run } from './command.ts'
import { requireCommonNode } from './common-node.ts'
import { findNode } from './find-node.ts'
import { formatBytes } from './format-quantity.ts'
import { formatTable } from './format-table.ts'
import { printableJson } from '../log/printable.ts'

export const runServices: Run = async (call) => {
  const view = await readServices(await findNode(call))
  call.out(call.settings.json ? printableJson(view, 2) : formatServices(view))
  return 0
}

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
  const [node, services, connections, files, offered, shared] = await Promise.all([
    client.getNode(),
    client.listNodeServices(),
    client.listNodeConnections(),
    client.listNodeFiles(),
    client.listServices(),
    client.listFiles(),
  ])
  const isOthers = ({ PeerID }: ServiceView | FileView) => PeerID !== node.PeerID
  return {
    Services: services,
    Connections: connections,
    Files: files,
    Members: { Services: offered.filter(isOthers), Files: shared.filter(isOthers) },
  }
}

/** Prints the lines that people read. */
export function formatServices({ Services, Connections, Files, Members }: View): string {
  const tables = [
    table(
      'Offered by this node',
      ['SERVICE', 'TARGET', 'STATE', 'OPEN', 'IN', 'OUT', 'LAST ERROR'],
      Services.map(serviceRow),
    ),
    table(
      'Connected by this node',
      ['SERVICE', 'LISTEN', 'STATE', 'PROVIDER', 'OPEN', 'IN', 'OUT', 'LAST ERROR'],
      Connections.map(connectionRow),
    ),
    table(
      'Files of this node',
      ['FILE', 'PATH', 'STATE', 'RECEIVERS', 'COMPLETED', 'LAST ERROR'],
      Files.map(fileRow),
    ),
    table('Services of members', ['SERVICE', 'PROVIDER'], Members.Services.map(memberRow)),
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
  const state = Owner === null ? State : `${State} (by ${shortPeerId(Owner)})`
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
  const { Name, Listen, State, Provider, Path, Transport, OpenConnections, BytesIn, BytesOut, LastError } =
    connection
  return [
    Name,
    Listen,
    [State, [Path, Transport].filter((part) => part !== null).join(' ')]
      .filter((part) => part !== '')
      .join(', '),
    Provider === null ? '-' : shortPeerId(Provider),
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
  Receivers,
  Completed,
  LastError,
}: NodeFileView): readonly string[] {
  const state = Owner === null ? State : `${State} (by ${shortPeerId(Owner)})`
  return [Name, Path, state, String(Receivers.length), String(Completed), LastError ?? '']
}

function memberRow({ Name, PeerID }: ServiceView | FileView): readonly string[] {
  return [Name, shortPeerId(PeerID)]
}
