/** Families of `/metrics` that the API server cannot know: peers, refusals, discovery, the VPN and the process. */
import type { Metric } from '@mesh/api-server'
import type { DnsStatus } from '@mesh/dns'
import type { P2pNode } from '@mesh/p2p'
import type { ReplicationStatus } from '@mesh/replication'
import type { EgressStatus, FileOffer, ProxyStatus, ServicesStatus } from '@mesh/services'
import type { VpnStatus } from '@mesh/vpn'
import { dnsMetrics } from './dns-metrics.ts'
import { counter, counts, gauge } from './metric-families.ts'
import { serviceMetrics } from './service-metrics.ts'
import { egressMetrics, proxyMetrics } from './egress-metrics.ts'
import { fileMetrics } from './file-metrics.ts'
import { vpnMetrics } from './vpn-metrics.ts'

export interface MetricsView {
  readonly p2p: P2pNode | undefined
  readonly replication: ReplicationStatus | undefined
  readonly vpn: VpnStatus | undefined
  readonly services?: ServicesStatus | undefined
  readonly files?: readonly FileOffer[] | undefined
  readonly egress?: EgressStatus | undefined
  readonly proxy?: ProxyStatus | undefined
  readonly dns?: DnsStatus | undefined
  readonly version: string
  /** The seconds since the start. */
  readonly uptimeSeconds: number
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly external: number }
}

export function readMetrics({
  p2p,
  replication,
  vpn,
  services,
  files,
  egress,
  proxy,
  dns,
  version,
  uptimeSeconds,
  memory,
}: MetricsView): readonly Metric[] {
  return [
    gauge('mesh_build_info', 'Always 1; the label tells the version.', [{ labels: { version }, value: 1 }]),
    gauge('mesh_uptime_seconds', 'Seconds since the node started.', [{ value: uptimeSeconds }]),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [{ value: memory.rss }]),
    gauge('mesh_heap_used_bytes', 'JavaScript heap in use.', [{ value: memory.heapUsed }]),
    gauge(
      'mesh_external_memory_bytes',
      'Buffers and other memory that JavaScript holds outside of its heap.',
      [{ value: memory.external }],
    ),
    ...(p2p === undefined ? [] : networkMetrics(p2p)),
    ...(replication === undefined ? [] : replicationMetrics(replication)),
    ...(vpn === undefined ? [] : vpnMetrics(vpn)),
    ...(services === undefined ? [] : serviceMetrics(services)),
    ...(files === undefined ? [] : fileMetrics(files)),
    ...(egress === undefined ? [] : egressMetrics(egress)),
    ...(proxy === undefined ? [] : proxyMetrics(proxy)),
    ...(dns === undefined ? [] : dnsMetrics(dns)),
  ]
}

function networkMetrics(p2p: P2pNode): readonly Metric[] {
  const connected = p2p.peers().filter((peer) => peer.connected)
  const count = (path: 'direct' | 'relayed') => connected.filter((peer) => peer.path === path).length
  return [
    gauge('mesh_connected_peers', 'Peers with a live connection, by path.', [
      { labels: { path: 'direct' }, value: count('direct') },
      { labels: { path: 'relayed' }, value: count('relayed') },
    ]),
    gauge('mesh_connected_members', 'Connected peers that proved their membership.', [
      { value: connected.filter((peer) => peer.member).length },
    ]),
    counts('mesh_p2p_refused_total', 'What peers sent and this node refused, by reason.', p2p.refusals()),
    {
      name: 'mesh_discovered_peers_total',
      help: 'Peers found, by way of discovery.',
      type: 'counter',
      samples: p2p
        .discovery()
        .flatMap(({ method, found }) =>
          found === undefined ? [] : [{ labels: { way: method }, value: found }],
        ),
    },
  ]
}

function replicationMetrics({
  published,
  received,
  sessions,
  peers,
  legacyMembers,
}: ReplicationStatus): readonly Metric[] {
  const sum = (pick: (peer: (typeof peers)[number]) => number) =>
    peers.reduce((total, peer) => total + pick(peer), 0)
  return [
    counter('mesh_blocks_published_total', 'Blocks sent over gossip.', published.blocks),
    counter('mesh_entries_published_total', 'Entries sent over gossip.', published.entries),
    counter(
      'mesh_whole_ledgers_published_total',
      'Whole ledgers sent for legacy members.',
      published.wholeLedgers,
    ),
    counter('mesh_publish_failures_total', 'Blocks that could not be sent over gossip.', published.failed),
    counter('mesh_messages_received_total', 'Messages heard over gossip.', received.messages),
    counter('mesh_entries_accepted_total', 'Entries taken from gossip.', received.accepted),
    counts(
      'mesh_messages_refused_total',
      'Messages that never reached the ledger, by reason.',
      received.refused,
    ),
    counter(
      'mesh_catch_up_sessions_total',
      'Comparisons with single peers.',
      sum((peer) => peer.sessions),
    ),
    counter(
      'mesh_catch_up_entries_in_total',
      'Entries got by comparison.',
      sum((peer) => peer.entriesIn),
    ),
    counter(
      'mesh_catch_up_entries_out_total',
      'Entries given by comparison.',
      sum((peer) => peer.entriesOut),
    ),
    counts('mesh_catch_up_failures_total', 'Comparisons that failed, by reason.', sessions.failures),
    gauge('mesh_legacy_members', 'EdgeVPN-compatible members heard within ten minutes.', [
      { value: legacyMembers.length },
    ]),
  ]
}
