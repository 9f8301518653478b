/** `mesh status`: problems first, then what the node is and whom it reaches. */
import type { ApiClient } from '@mesh/api-client'
import type { HealthView, PeerView } from '@mesh/api-contract'
import { shortPeerId, stringifyExactJson } from '@mesh/core'
import { printable } from '../log/printable.ts'
import type { Run } from './command.ts'
import { findNode } from './find-node.ts'
import { formatTable } from './format-table.ts'

export const runStatus: Run = async (call) => {
  const status = await readStatus(await findNode(call))
  if (call.settings.json) call.out(`${stringifyExactJson(status, 2)}\n`)
  else call.out(formatStatus(status))
  return 0
}

type Status = Awaited<ReturnType<typeof readStatus>>

async function readStatus(client: ApiClient) {
  const [summary, version, health, digest, peers] = await Promise.all([
    client.getSummary(),
    client.getVersion(),
    client.getHealth(),
    client.getDigest(),
    client.listPeers(),
  ])
  return { Summary: summary, Version: version.Version, Health: health, Digest: digest, Peers: peers }
}

function formatStatus({ Summary, Version, Health, Digest, Peers }: Status): string {
  const members = Peers.filter((peer) => peer.Connected && peer.Member).length
  const lines = [
    ...Health.Problems.map(formatProblem),
    `node      ${Summary.NodeID} (mesh ${Version})`,
    `members   ${members} connected, ${Summary.OnChainNodes} on the topic, ${Peers.length} peers known`,
    `ledger    block ${Summary.BlockChain}, ${Digest.Entries} entries, digest ${Digest.Digest.slice(0, 16)}`,
  ]
  const shown = Peers.filter((peer) => peer.Connected || peer.Member || peer.LastError !== null)
  const table = shown.length === 0 ? '' : `\n${formatTable(PEER_COLUMNS, shown.map(peerRow))}`
  return `${lines.join('\n')}\n${table}`
}

function formatProblem({ Severity, Title, Hint }: HealthView['Problems'][number]): string {
  return `${Severity === 'error' ? 'ERROR' : 'warning'}: ${printable(Title)}\n  ${printable(Hint)}`
}

const PEER_COLUMNS = ['PEER', 'NAME', 'STATE', 'TRANSPORT', 'ROUND TRIP', 'IN', 'OUT', 'LAST ERROR']

function peerRow(peer: PeerView): readonly string[] {
  return [
    shortPeerId(peer.ID),
    peer.Name === '' ? '-' : peer.Name,
    (peer.Connected ? (peer.Path ?? 'connected') : 'away') + (peer.Member ? '' : ', no member'),
    peer.Transport ?? '-',
    peer.RoundTripMs === null ? '-' : `${peer.RoundTripMs.toFixed(1)} ms`,
    formatBytes(peer.TotalIn),
    formatBytes(peer.TotalOut),
    peer.LastError ?? '',
  ]
}

function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  for (const [unit, size] of [
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
  ] as const) {
    if (bytes < size * 1_000) return `${(bytes / size).toFixed(1)} ${unit}`
  }
  return `${(bytes / 1e12).toFixed(1)} TB`
}
