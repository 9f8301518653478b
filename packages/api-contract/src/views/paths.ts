/** Schemas of how members say that they reach each other. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, path, peerId } from './fields.ts'

const pathView = later(() =>
  z.object({
    PeerID: peerId(),
    Path: path(),
    Relay: peerId().nullable().meta({ description: 'The peer that passes packets on; null: none.' }),
    RoundTripMs: z.number().nullable(),
    BytesPerSecond: count().meta({ description: 'In both directions, over 10 s.' }),
  }),
)

export const pathReportView = later(() =>
  z
    .object({
      PeerID: peerId().meta({ description: 'Who tells it; this node first.' }),
      State: z.enum(['told', 'asked', 'silent', 'unsupported']).meta({
        description:
          'told: Paths are of AgeMs ago. asked: no answer yet. silent: it did not answer. unsupported: its software does not tell.',
      }),
      AgeMs: count().nullable(),
      Paths: z.array(pathView()),
      More: count().meta({ description: 'Paths that are not listed.' }),
    })
    .meta({ id: 'PathReport' }),
)

export type PathReportView = z.output<ReturnType<typeof pathReportView>>
