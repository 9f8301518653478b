import type { Metric } from '@mesh/api-server'
import type { EgressStatus, ProxyStatus } from '@mesh/services'
import { counter, counts, gauge } from './metric-families.ts'

export function egressMetrics(status: EgressStatus): readonly Metric[] {
  return [
    ...passed('mesh_egress', status),
    counts('mesh_egress_refused_total', 'Requests of members that were refused, by code.', status.refusals),
  ]
}

export function proxyMetrics(status: ProxyStatus): readonly Metric[] {
  const { egress, path, transport } = status
  const isReached = egress !== undefined && path !== undefined
  const samples = isReached ? [{ labels: { path, transport: transport ?? '' }, value: 1 }] : []
  return [
    ...passed('mesh_proxy', status),
    gauge('mesh_proxy_path', 'Is 1 for the way to the member that requests leave through.', samples),
  ]
}

function passed(
  prefix: string,
  { openConnections, connections, bytesIn, bytesOut }: EgressStatus | ProxyStatus,
): readonly Metric[] {
  return [
    gauge(`${prefix}_open_connections`, 'Connections now.', [{ value: openConnections }]),
    counter(`${prefix}_connections_total`, 'Connections since the start.', connections),
    counter(`${prefix}_received_bytes_total`, 'Bytes from members.', bytesIn),
    counter(`${prefix}_sent_bytes_total`, 'Bytes to members.', bytesOut),
  ]
}
