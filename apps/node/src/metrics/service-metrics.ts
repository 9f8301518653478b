/** Families of services: what is offered and connected to, and what passed. Bounded by what this node was told to do. */
import type { Metric } from '@mesh/api-server'
import type { ConnectedStatus, ExposedStatus, ServicesStatus } from '@mesh/services'
import { counts } from './metric-families.ts'

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
