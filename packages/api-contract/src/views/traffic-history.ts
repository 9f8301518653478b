/** Schemas of what went over the network in the last hour. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count } from './fields.ts'

const series = later(() =>
  z.array(z.number().nonnegative()).meta({ description: 'Of each step, the oldest first.' }),
)

const flows = later(() =>
  z.array(
    z.object({
      ID: z.string().meta({ description: 'A peer id or a protocol id; empty: all others together.' }),
      In: series().meta({ description: 'Bytes per second.' }),
      Out: series().meta({ description: 'Bytes per second.' }),
    }),
  ),
)

export const trafficHistoryView = later(() =>
  z
    .object({
      StepSeconds: count(),
      Until: z.string().meta({ description: 'When the last step ended, RFC 3339 UTC.' }),
      In: series().meta({ description: 'Bytes per second.' }),
      Out: series().meta({ description: 'Bytes per second.' }),
      Peers: flows(),
      Protocols: flows(),
      Vpn: z
        .object({
          In: series().meta({ description: 'Packets per second that came from members.' }),
          Out: series().meta({ description: 'Packets per second that went to members.' }),
          Drops: z.array(
            z.object({
              Reason: z.string().meta({ description: 'As in /api/vpn.' }),
              Dropped: series().meta({ description: 'Packets per second.' }),
              Total: count().meta({ description: 'Packets since the start.' }),
            }),
          ),
        })
        .nullable()
        .meta({ description: 'null: this node has no VPN.' }),
    })
    .meta({ id: 'TrafficHistory' }),
)

export type TrafficHistoryView = z.output<ReturnType<typeof trafficHistoryView>>
