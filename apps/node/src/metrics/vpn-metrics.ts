/** Families of the VPN: how peers are reached, what passed, and what was dropped and why. */
import { counter, gauge, labelled, type Metric } from '@mesh/api-server'
import type { TunnelKind, VpnPeerStatus, VpnStatus } from '@mesh/vpn'

/** Peers with samples of their own; the others are one sample together. */
export const MAX_PEERS_IN_METRICS = 1_000

/** `Way` in the API and in metrics. */
export const WAY_OF_TUNNEL = {
  wireguard: 'sealed',
  legacy: 'plain',
  none: 'unknown',
} as const satisfies Readonly<Record<TunnelKind, string>>

type Count = (peer: VpnPeerStatus) => number

export function vpnMetrics({ peers, device, ignored, refusals }: VpnStatus): readonly Metric[] {
  // most members of a large network never send each other anything
  const active = peers.filter((peer) => packetsOf(peer) + droppedOf(peer) > 0)
  const byPeer = (count: Count) => peerSamples(active, count)
  const ways = Object.entries(WAY_OF_TUNNEL).map(([tunnel, way]) => ({
    labels: { way },
    value: peers.filter((peer) => peer.tunnel === tunnel).length,
  }))
  const drops = dropSamples([device, ...active.map(({ counters }) => counters)])
  const sessions = peers.filter(({ sessionSince }) => sessionSince !== undefined).length
  return [
    gauge('mesh_vpn_peers', 'Peers with addresses in the VPN, by the way that packets go to them.', ways),
    gauge('mesh_vpn_sessions', 'Peers with a session.', sessions),
    counter(
      'mesh_vpn_received_packets_total',
      'Packets from the peer.',
      byPeer(({ counters }) => counters.packetsIn),
    ),
    counter(
      'mesh_vpn_sent_packets_total',
      'Packets to the peer.',
      byPeer(({ counters }) => counters.packetsOut),
    ),
    counter(
      'mesh_vpn_received_bytes_total',
      'Bytes of packets from the peer.',
      byPeer(({ counters }) => counters.bytesIn),
    ),
    counter(
      'mesh_vpn_sent_bytes_total',
      'Bytes of packets to the peer.',
      byPeer(({ counters }) => counters.bytesOut),
    ),
    counter(
      'mesh_vpn_peer_dropped_packets_total',
      'Packets from and to the peer that were dropped.',
      byPeer(droppedOf),
    ),
    counter('mesh_vpn_dropped_packets_total', 'Packets dropped, by reason.', drops),
    gauge(
      'mesh_vpn_ignored_entries',
      'Ledger entries that nothing is routed by, by reason.',
      labelled('reason', ignored),
    ),
    counter(
      'mesh_vpn_refused_total',
      'What peers did against the protocols of the VPN, by code.',
      labelled('code', refusals),
    ),
  ]
}

function packetsOf({ counters }: VpnPeerStatus): number {
  return counters.packetsIn + counters.packetsOut
}

function droppedOf({ counters }: VpnPeerStatus): number {
  return Object.values(counters.drops).reduce((sum, value) => sum + value, 0)
}

function peerSamples(peers: readonly VpnPeerStatus[], count: Count): Metric['samples'] {
  const named = peers
    .slice(0, MAX_PEERS_IN_METRICS)
    .map((peer) => ({ labels: { peer: peer.peer }, value: count(peer) }))
  const others = peers.slice(MAX_PEERS_IN_METRICS)
  if (others.length === 0) return named
  return [
    ...named,
    { labels: { peer: '(others)' }, value: others.reduce((sum, peer) => sum + count(peer), 0) },
  ]
}

function dropSamples(all: readonly VpnStatus['device'][]): Metric['samples'] {
  const sums = new Map<string, number>()
  for (const { drops } of all) {
    for (const [reason, count] of Object.entries(drops)) sums.set(reason, (sums.get(reason) ?? 0) + count)
  }
  return [...sums].map(([reason, value]) => ({ labels: { reason }, value }))
}
