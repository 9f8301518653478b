/** Families of `/metrics` that the API server cannot know: peers, refusals, discovery, the VPN and the process. */
import { counter, gauge, labelled, type Metric } from '@mesh/api-server'
import type { DnsStatus } from '@mesh/dns'
import type { P2pNode } from '@mesh/p2p'
import type { ReplicationStatus } from '@mesh/replication'
import type { EgressStatus, FileOffer, ProxyStatus, ServicesStatus } from '@mesh/services'
import type { VpnStatus } from '@mesh/vpn'
import { egressMetrics, fileMetrics, proxyMetrics, serviceMetrics } from './service-metrics.ts'
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
    gauge('mesh_uptime_seconds', 'Seconds since the node started.', uptimeSeconds),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('mesh_heap_used_bytes', 'JavaScript heap in use.', memory.heapUsed),
    gauge(
      'mesh_external_memory_bytes',
      'Buffers and other memory that JavaScript holds outside of its heap.',
      memory.external,
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
  const members = p2p.peers().filter(({ connected, member }) => connected && member)
  const found = p2p.discovery().flatMap((way) => (way.found === undefined ? [] : [[way.method, way.found]]))
  return [
    gauge('mesh_connected_members', 'Connected peers that proved their membership.', members.length),
    counter(
      'mesh_p2p_refused_total',
      'What peers sent and this node refused, by reason.',
      labelled('code', p2p.refusals()),
    ),
    counter(
      'mesh_discovered_peers_total',
      'Peers found, by way of discovery.',
      labelled('way', Object.fromEntries(found)),
    ),
  ]
}

function replicationMetrics({
  published,
  received,
  sessions,
  peers,
  legacyMembers,
}: ReplicationStatus): readonly Metric[] {
  const sum = (field: 'sessions' | 'entriesIn' | 'entriesOut') =>
    peers.reduce((total, peer) => total + peer[field], 0)
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
    counter(
      'mesh_messages_refused_total',
      'Messages that never reached the ledger, by reason.',
      labelled('code', received.refused),
    ),
    counter('mesh_catch_up_sessions_total', 'Comparisons with single peers.', sum('sessions')),
    counter('mesh_catch_up_entries_in_total', 'Entries got by comparison.', sum('entriesIn')),
    counter('mesh_catch_up_entries_out_total', 'Entries given by comparison.', sum('entriesOut')),
    counter(
      'mesh_catch_up_failures_total',
      'Comparisons that failed, by reason.',
      labelled('code', sessions.failures),
    ),
    gauge(
      'mesh_legacy_members',
      'EdgeVPN-compatible members heard within ten minutes.',
      legacyMembers.length,
    ),
  ]
}

function dnsMetrics({ outcomes, names, forwarder }: DnsStatus): readonly Metric[] {
  const known = labelled('kind', { automatic: names.automatic, pattern: names.patterns })
  const outcome = labelled('code', outcomes)
  const common = [
    counter('mesh_dns_queries_total', 'Packets to the DNS server, by what became of them.', outcome),
    gauge('mesh_dns_names', 'Automatic names, and patterns of the ledger.', known),
  ]
  if (forwarder === undefined) return common
  const { hits, misses, cached, inFlight } = forwarder
  return [
    ...common,
    counter('mesh_dns_cache_hits_total', 'Forwarded names answered from the cache.', hits),
    counter('mesh_dns_cache_misses_total', 'Forwarded names that had to be asked for.', misses),
    gauge('mesh_dns_cached_answers', 'Answers that are kept.', cached),
    gauge('mesh_dns_forwards_in_flight', 'Questions that wait for a server.', inFlight),
  ]
}
