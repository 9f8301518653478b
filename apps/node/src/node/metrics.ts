/** Families of `/metrics` that the API server cannot know: peers, refusals, discovery and the process. */
import type { Metric } from '@mesh/api-server'
import type { P2pNode } from '@mesh/p2p'

export interface MetricsView {
  readonly p2p: P2pNode | undefined
  readonly version: string
  /** Seconds since start. */
  readonly uptimeSeconds: number
  readonly memory: { readonly rss: number; readonly heapUsed: number }
}

export function readMetrics({ p2p, version, uptimeSeconds, memory }: MetricsView): readonly Metric[] {
  return [
    gauge('mesh_build_info', 'Always 1; the label tells the version.', [{ labels: { version }, value: 1 }]),
    gauge('mesh_uptime_seconds', 'Seconds since the node started.', [{ value: uptimeSeconds }]),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', [{ value: memory.rss }]),
    gauge('mesh_heap_used_bytes', 'JavaScript heap in use.', [{ value: memory.heapUsed }]),
    ...(p2p === undefined ? [] : networkMetrics(p2p)),
  ]
}

function networkMetrics(p2p: P2pNode): readonly Metric[] {
  const connected = p2p.peers().filter((peer) => peer.connected)
  const count = (path: 'direct' | 'relayed') => connected.filter((peer) => peer.path === path).length
  const refusals = Object.entries(p2p.refusals())
  return [
    gauge('mesh_connected_peers', 'Peers with a live connection, by path.', [
      { labels: { path: 'direct' }, value: count('direct') },
      { labels: { path: 'relayed' }, value: count('relayed') },
    ]),
    gauge('mesh_connected_members', 'Connected peers that proved their membership.', [
      { value: connected.filter((peer) => peer.member).length },
    ]),
    {
      name: 'mesh_p2p_refused_total',
      help: 'What peers sent and this node refused, by reason.',
      type: 'counter',
      samples: refusals.map(([code, value]) => ({ labels: { code }, value })),
    },
    {
      name: 'mesh_discovered_peers_total',
      help: 'Peers found, by way of discovery.',
      type: 'counter',
      samples: p2p.discovery().map(({ way, found }) => ({ labels: { way }, value: found })),
    },
  ]
}

function gauge(name: string, help: string, samples: Metric['samples']): Metric {
  return { name, help, type: 'gauge', samples }
}
