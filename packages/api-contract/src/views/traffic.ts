/** Schemas of bytes and rates. */
import * as z from 'zod'
import { jsonMap } from '../json-map.ts'
import { later } from '../later.ts'

export const statsView = later(() =>
  z
    .object({
      TotalIn: z.number().meta({ description: 'Bytes since the node started.' }),
      TotalOut: z.number().meta({ description: 'Bytes since the node started.' }),
      RateIn: z.number().meta({ description: 'Bytes per second over 10 s.' }),
      RateOut: z.number().meta({ description: 'Bytes per second over 10 s.' }),
    })
    .meta({ id: 'Stats' }),
)
export type StatsView = z.output<ReturnType<typeof statsView>>

export const statsMapView = later(() =>
  jsonMap(statsView()).meta({
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/Stats' },
  }),
)
