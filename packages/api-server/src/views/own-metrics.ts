/** The families that the API can tell from what it is plugged into: ledger, peers, traffic, requests. */
import type { Ledger, Snapshot } from '@mesh/ledger'
import { MAX_BUCKETS_IN_METRICS } from '../limits.ts'
import type { Metric, NetworkPort, TrafficPort } from '../ports.ts'

export function ledgerMetrics(ledger: Ledger): readonly Metric[] {
  const snapshot = ledger.snapshot()
  const rejected = Object.entries(ledger.rejections()).map(([code, value]) => ({ labels: { code }, value }))
  return [
    gauge('mesh_ledger_block_index', 'Index of the last block.', snapshot.head.index),
    gauge('mesh_ledger_stored_entries', 'Entries stored, tombstones included.', snapshot.size),
    {
      name: 'mesh_ledger_live_entries',
      help: 'Live entries, by bucket.',
      type: 'gauge',
      samples: bucketSamples(snapshot),
    },
    {
      name: 'mesh_ledger_rejected_total',
      help: 'Entries of others that were refused, by reason.',
      type: 'counter',
      samples: rejected,
    },
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

export function networkMetrics(network: NetworkPort): readonly Metric[] {
  const peers = network.peers()
  return [
    gauge('mesh_topic_members', 'Other members on the gossip topic.', network.members().length),
    gauge('mesh_known_peers', 'Peers known, this node excluded.', peers.length),
    {
      name: 'mesh_connected_peers',
      help: 'Peers with a live connection, by path.',
      type: 'gauge',
      samples: (['direct', 'relayed'] as const).map((path) => ({
        labels: { path },
        value: peers.filter((peer) => peer.connected && peer.path === path).length,
      })),
    },
    ...(network.traffic === undefined ? [] : trafficMetrics(network.traffic)),
  ]
}

function trafficMetrics(traffic: TrafficPort): readonly Metric[] {
  const byProtocol = [...traffic.byProtocol()]
  const family = (name: string, help: string, field: 'totalIn' | 'totalOut'): Metric => ({
    name,
    help,
    type: 'counter',
    samples: byProtocol.map(([protocol, stats]) => ({ labels: { protocol }, value: stats[field] })),
  })
  return [
    family('mesh_received_bytes_total', 'Bytes received, by protocol.', 'totalIn'),
    family('mesh_sent_bytes_total', 'Bytes sent, by protocol.', 'totalOut'),
  ]
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', samples: [{ value }] }
}
