/** The families that the API can tell from what it is plugged into: ledger, peers, traffic, requests. */
import type { Ledger, Snapshot } from '@mesh/ledger'
import { MAX_BUCKETS_IN_METRICS } from '../limits.ts'
import type { HealthProblem, Metric, NetworkPort, TrafficPort } from '../ports.ts'
import { counter, gauge, labelled } from './metric-families.ts'

export function ledgerMetrics(ledger: Ledger): readonly Metric[] {
  const snapshot = ledger.snapshot()
  return [
    gauge('mesh_ledger_block_index', 'Index of the last block.', snapshot.head.index),
    gauge('mesh_ledger_stored_entries', 'Entries stored, tombstones included.', snapshot.size),
    gauge('mesh_ledger_live_entries', 'Live entries, by bucket.', bucketSamples(snapshot)),
    counter(
      'mesh_ledger_rejected_total',
      'Entries of others that were refused, by reason.',
      labelled('code', ledger.rejections()),
    ),
    gauge(
      'mesh_ledger_conflicts',
      'Keys that two live owners hold against each other.',
      ledger.conflicts().length,
    ),
  ]
}

/** The largest buckets by name, the others together: any member can make buckets. */
function bucketSamples(snapshot: Snapshot): Metric['samples'] {
  const largestFirst = snapshot
    .buckets()
    .map((bucket) => ({ bucket, value: snapshot.count(bucket) }))
    .sort((a, b) => b.value - a.value)
  const others = largestFirst.slice(MAX_BUCKETS_IN_METRICS).reduce((sum, { value }) => sum + value, 0)
  const named = largestFirst
    .slice(0, MAX_BUCKETS_IN_METRICS)
    .map(({ bucket, value }) => ({ labels: { bucket }, value }))
  return others === 0 ? named : [...named, { labels: { bucket: '(others)' }, value: others }]
}

export function healthMetric(problems: readonly HealthProblem[]): Metric {
  const byKind = Map.groupBy(problems, ({ code, severity }) => `${severity} ${code}`)
  const samples = [...byKind.values()].flatMap((alike) => {
    const [first] = alike
    return first === undefined
      ? []
      : [{ labels: { code: first.code, severity: first.severity }, value: alike.length }]
  })
  return gauge('mesh_health_problems', 'Problems that /api/health tells, by code.', samples)
}

export function networkMetrics(network: NetworkPort): readonly Metric[] {
  const peers = network.peers()
  const connected = (path: 'direct' | 'relayed') =>
    peers.filter((peer) => peer.connected && peer.path === path).length
  return [
    gauge('mesh_topic_members', 'Other members on the gossip topic.', network.members().length),
    gauge('mesh_known_peers', 'Peers known, this node excluded.', peers.length),
    gauge(
      'mesh_connected_peers',
      'Peers with a live connection, by path.',
      labelled('path', { direct: connected('direct'), relayed: connected('relayed') }),
    ),
    ...(network.traffic === undefined ? [] : trafficMetrics(network.traffic)),
  ]
}

function trafficMetrics(traffic: TrafficPort): readonly Metric[] {
  const byProtocol = [...traffic.byProtocol()]
  const samplesOf = (field: 'totalIn' | 'totalOut') =>
    byProtocol.map(([protocol, stats]) => ({ labels: { protocol }, value: stats[field] }))
  return [
    counter('mesh_received_bytes_total', 'Bytes received, by protocol.', samplesOf('totalIn')),
    counter('mesh_sent_bytes_total', 'Bytes sent, by protocol.', samplesOf('totalOut')),
  ]
}
