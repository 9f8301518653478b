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
    family(
      'mesh_file_completed_total',
      'Receivers that got all of it.',
      'counter',
      ({ completed }) => completed,
    ),
    family('mesh_file_sent_bytes_total', 'Bytes to members.', 'counter', ({ bytesSent }) => bytesSent),
  ]
}
