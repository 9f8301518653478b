/** Schemas of this node itself. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, ownership, peerId } from './fields.ts'

export const nodeFactsView = later(() =>
  z
    .object({
      Name: z.string().meta({ description: 'What people call this node; empty when nobody named it.' }),
      PeerID: peerId(),
      Network: z.string().meta({ description: 'Names the network, and tells nothing of its secrets.' }),
      Instance: z.string().meta({ description: 'Tells apart nodes of one network on one machine.' }),
      Listen: z
        .array(z.string())
        .meta({ description: 'Where the API answers: http:// and unix:// addresses.' }),
      Version: z.string(),
      StartedAt: z.string().meta({ description: 'RFC 3339 UTC.' }),
      UptimeSeconds: count(),
      HasVpn: z.boolean(),
      Ownership: ownership(),
    })
    .meta({ id: 'NodeFacts' }),
)

export type NodeFactsView = z.output<ReturnType<typeof nodeFactsView>>

export const reachabilityView = later(() =>
  z
    .object({
      Addresses: z
        .array(z.string())
        .meta({ description: 'What others can dial, as multiaddrs; those over relays too.' }),
      Ways: z.array(
        z.object({
          Name: z.string(),
          Enabled: z.boolean(),
          Found: count().nullable().meta({
            description: 'How many peers it found; null for what helps to be reached and finds none.',
          }),
          LastError: z.string().nullable(),
        }),
      ),
      Clock: z
        .object({
          AheadMs: z
            .number()
            .meta({ description: "Of the median of the members' clocks; less than zero: behind." }),
          Members: count(),
        })
        .nullable()
        .meta({ description: 'null: no member was heard for ten minutes.' }),
    })
    .meta({ id: 'Reachability' }),
)

export type ReachabilityView = z.output<ReturnType<typeof reachabilityView>>
