/** Tables of peers and machines, as `mesh status`, `mesh peers` and `mesh machines` print them. */
import type { PeerView } from '@mesh/api-contract'
import { shortPeerId } from '@mesh/core'
import { formatBytes } from '../../words/format-quantity.ts'
import { formatTable } from '../format-table.ts'

/** A table after an empty line; nothing where there are no rows. */
export function titledTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `\n${formatTable(head, rows)}`
}

const PEER_COLUMNS = ['PEER', 'NAME', 'STATE', 'TRANSPORT', 'ROUND TRIP', 'IN', 'OUT', 'LAST ERROR']

/** Prints those peers that have something to tell: a connection, a membership, an error. */
export function formatPeers(peers: readonly PeerView[]): string {
  const shown = peers.filter((peer) => peer.Connected || peer.Member || peer.LastError !== null)
  return titledTable(PEER_COLUMNS, shown.map(peerRow))
}

function peerRow(peer: PeerView): readonly string[] {
  return [
    shortPeerId(peer.ID),
    peer.Name === '' ? '-' : peer.Name,
    (peer.Connected ? (peer.Path ?? 'connected') : 'away') + (peer.Member ? '' : ', no member'),
    peer.Transport ?? '-',
    formatRoundTrip(peer.RoundTripMs),
    formatBytes(peer.TotalIn),
    formatBytes(peer.TotalOut),
    peer.LastError ?? '',
  ]
}

const REACH_COLUMNS = ['PEER', 'REACH']

/** Prints how each peer is reached; of all peers, so that one that is not shown for want of news can be asked about too. */
export function formatReach(peers: readonly PeerView[]): string {
  return titledTable(
    REACH_COLUMNS,
    peers.map(({ ID, Reach }) => [shortPeerId(ID), Reach ?? 'not known']),
  )
}

/** Orders by the first address: IPv4 before IPv6, each in the order of its numbers. */
export function byAddress(
  a: { readonly Addresses: readonly string[] },
  b: { readonly Addresses: readonly string[] },
): number {
  const [first = '', second = ''] = [a.Addresses[0], b.Addresses[0]]
  if (first.includes(':') !== second.includes(':')) return first.includes(':') ? 1 : -1
  return first.localeCompare(second, 'en', { numeric: true })
}

export function formatRoundTrip(ms: number | null): string {
  return ms === null ? '-' : `${ms.toFixed(1)} ms`
}
