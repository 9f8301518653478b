/** Families of services: what is offered and connected to, and what passed. Bounded by what this node was told to do. */
import type { Metric } from '@mesh/api-server'
import type {
  ConnectedStatus,
  EgressStatus,
  ExposedStatus,
  FileOffer,
  ProxyStatus,
  ServicesStatus,
} from '@mesh/services'
import { counter, counts, gauge } from './metric-families.ts'

type Status = ExposedStatus | ConnectedStatus

export function serviceMetrics({ services, connections, refusals }: ServicesStatus): readonly Metric[] {
  const family = (name: string, help: string, type: Metric['type'], value: (status: Status) => number) => ({
    name,
    help,
    type,
    samples: [
      ...services.map((status) => ({
        labels: { name: status.name, side: 'offered' },
        value: value(status),
      })),
      ...connections.map((status) => ({
        labels: { name: status.name, side: 'connected' },
        value: value(status),
      })),
    ],
  })
  const isUp = ({ state }: Status) => Number(state === 'announced' || state === 'connected')
  return [
    family(
      'mesh_service_up',
      'Is 1 while members can reach it, or its provider is connected.',
      'gauge',
      isUp,
    ),
    {
      name: 'mesh_service_path',
      help: 'Is 1 for the way to the provider: direct or relayed, and what carries it.',
      type: 'gauge',
      samples: connections.flatMap(({ name, path, transport }) =>
        path === undefined ? [] : [{ labels: { name, path, transport: transport ?? '' }, value: 1 }],
      ),
    },
    family('mesh_service_open_connections', 'Connections now.', 'gauge', (status) => status.openConnections),
    family(
      'mesh_service_connections_total',
      'Connections since the start.',
      'counter',
      (status) => status.connections,
    ),
    family('mesh_service_received_bytes_total', 'Bytes from members.', 'counter', (status) => status.bytesIn),
    family('mesh_service_sent_bytes_total', 'Bytes to members.', 'counter', (status) => status.bytesOut),
    counts('mesh_service_refused_total', 'Requests of members that were refused, by code.', refusals),
  ]
}

export function egressMetrics(status: EgressStatus): readonly Metric[] {
  return [
    ...passed('mesh_egress', status),
    counts('mesh_egress_refused_total', 'Requests of members that were refused, by code.', status.refusals),
  ]
}

export function proxyMetrics(status: ProxyStatus): readonly Metric[] {
  const { egress, path, transport } = status
  const samples =
    egress === undefined || path === undefined
      ? []
      : [{ labels: { path, transport: transport ?? '' }, value: 1 }]
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

export function fileMetrics(offers: readonly FileOffer[]): readonly Metric[] {
  const family = (name: string, help: string, type: Metric['type'], value: (offer: FileOffer) => number) => ({
    name,
    help,
    type,
    samples: offers.map((offer) => ({ labels: { name: offer.name }, value: value(offer) })),
  })
  return [
    family('mesh_file_receivers', 'Receivers now.', 'gauge', ({ receivers }) => receivers.length),
    {
      name: 'mesh_file_path',
      help: 'Receivers now, by the way to them: direct or relayed, and what carries it.',
      type: 'gauge',
      samples: offers.flatMap(({ name, receivers }) =>
        waysOf(receivers).map((way) => ({ ...way, labels: { name, ...way.labels } })),
      ),
    },
    family(
      'mesh_file_completed_total',
      'Receivers that got all of it.',
      'counter',
      ({ completed }) => completed,
    ),
    family('mesh_file_sent_bytes_total', 'Bytes to members.', 'counter', ({ bytesSent }) => bytesSent),
  ]
}

/** Counts receivers by their way. */
function waysOf(receivers: FileOffer['receivers']) {
  const counted = Map.groupBy(receivers, ({ path, transport = '' }) => `${path} ${transport}`)
  return [...counted.values()].map((alike) => {
    const { path = 'direct', transport = '' } = alike[0] ?? {}
    return { labels: { path, transport }, value: alike.length }
  })
}
