/** Schemas of this node itself. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, peerId } from './fields.ts'

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
    })
    .meta({ id: 'NodeFacts' }),
)
export type NodeFactsView = z.output<ReturnType<typeof nodeFactsView>>

export const versionView = later(() =>
  z
    .object({
      Version: z.string(),
      Api: z.number().int(),
      Protocols: z.array(z.string()),
    })
    .meta({ id: 'Version' }),
)
export type VersionView = z.output<ReturnType<typeof versionView>>

export const healthView = later(() =>
  z
    .object({
      Status: z.enum(['ok', 'warning', 'error']),
      Problems: z.array(
        z.object({
          Code: z.string(),
          Severity: z.enum(['warning', 'error']),
          Title: z.string(),
          Hint: z.string(),
          Since: z.string().nullable().meta({ description: 'RFC 3339 UTC.' }),
        }),
      ),
    })
    .meta({ id: 'Health' }),
)
export type HealthView = z.output<ReturnType<typeof healthView>>
