import type { Metric } from '@mesh/api-server'
import type { FileOffer } from '@mesh/services'

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
      samples: offers.flatMap(samplesByWay),
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

function samplesByWay({ name, receivers }: FileOffer): Metric['samples'] {
  const byWay = Map.groupBy(receivers, ({ path, transport = '' }) => `${path} ${transport}`)
  return [...byWay.values()].map((alike) => {
    const { path = 'direct', transport = '' } = alike[0] ?? {}
    return { labels: { name, path, transport }, value: alike.length }
  })
}
