/** Families of services, files and the ways out: what is offered and used, and what passed. Bounded by what this node was told to do. */
import { counter, gauge, labelled, type Metric } from '@mesh/api-server'
import type {
  ConnectedStatus,
  EgressStatus,
  ExposedStatus,
  FileOffer,
  ProxyStatus,
  ServicesStatus,
} from '@mesh/services'

type Status = ExposedStatus | ConnectedStatus

export function serviceMetrics({ services, connections, refusals }: ServicesStatus): readonly Metric[] {
  const samplesOf = (valueOf: (status: Status) => number) => [
    ...services.map((each) => ({ labels: { name: each.name, side: 'offered' }, value: valueOf(each) })),
    ...connections.map((each) => ({ labels: { name: each.name, side: 'connected' }, value: valueOf(each) })),
  ]
  const isUp = samplesOf(({ state }) => Number(state === 'announced' || state === 'connected'))
  const ways = connections.flatMap(({ name, path, transport = '' }) =>
    path === undefined ? [] : [{ labels: { name, path, transport }, value: 1 }],
  )
  return [
    gauge('mesh_service_up', 'Is 1 while members can reach it, or its provider is connected.', isUp),
    gauge(
      'mesh_service_path',
      'Is 1 for the way to the provider: direct or relayed, and what carries it.',
      ways,
    ),
    ...passed('mesh_service', (field) => samplesOf((status) => status[field])),
    refused('mesh_service', refusals),
  ]
}

export function egressMetrics(status: EgressStatus): readonly Metric[] {
  return [...passed('mesh_egress', (field) => status[field]), refused('mesh_egress', status.refusals)]
}

export function proxyMetrics(status: ProxyStatus): readonly Metric[] {
  const { egress, path, transport = '' } = status
  const isReached = egress !== undefined && path !== undefined
  const samples = isReached ? [{ labels: { path, transport }, value: 1 }] : []
  return [
    ...passed('mesh_proxy', (field) => status[field]),
    gauge('mesh_proxy_path', 'Is 1 for the way to the member that requests leave through.', samples),
  ]
}

type Passed = 'openConnections' | 'connections' | 'bytesIn' | 'bytesOut'

function passed(prefix: string, of: (field: Passed) => number | Metric['samples']): readonly Metric[] {
  return [
    gauge(`${prefix}_open_connections`, 'Connections now.', of('openConnections')),
    counter(`${prefix}_connections_total`, 'Connections since the start.', of('connections')),
    counter(`${prefix}_received_bytes_total`, 'Bytes from members.', of('bytesIn')),
    counter(`${prefix}_sent_bytes_total`, 'Bytes to members.', of('bytesOut')),
  ]
}

function refused(prefix: string, refusals: Readonly<Record<string, number>>): Metric {
  const help = 'Requests of members that were refused, by code.'
  return counter(`${prefix}_refused_total`, help, labelled('code', refusals))
}

export function fileMetrics(offers: readonly FileOffer[]): readonly Metric[] {
  const samplesOf = (valueOf: (offer: FileOffer) => number) =>
    offers.map((offer) => ({ labels: { name: offer.name }, value: valueOf(offer) }))
  const receivers = samplesOf((offer) => offer.receivers.length)
  const completed = samplesOf((offer) => offer.completed)
  const sent = samplesOf((offer) => offer.bytesSent)
  return [
    gauge('mesh_file_receivers', 'Receivers now.', receivers),
    gauge(
      'mesh_file_path',
      'Receivers now, by the way to them: direct or relayed, and what carries it.',
      offers.flatMap(samplesByWay),
    ),
    counter('mesh_file_completed_total', 'Receivers that got all of it.', completed),
    counter('mesh_file_sent_bytes_total', 'Bytes to members.', sent),
  ]
}

function samplesByWay({ name, receivers }: FileOffer): Metric['samples'] {
  const byWay = Map.groupBy(receivers, ({ path, transport = '' }) => `${path} ${transport}`)
  return [...byWay.values()].map((alike) => {
    const { path = 'direct', transport = '' } = alike[0] ?? {}
    return { labels: { name, path, transport }, value: alike.length }
  })
}
