/** Stock WireGuard devices that a node carries for. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count } from './fields.ts'

const named = later(() => ({
  Name: z.string(),
  Address: z.string().meta({ description: 'In the VPN.' }),
  Address6: z
    .string()
    .nullable()
    .meta({ description: 'Its address of IPv6, where the VPN has a range of it that a person gave.' }),
  PublicKey: z.string().meta({ description: 'Base64.' }),
}))

export const guestView = later(() =>
  z
    .object({
      ...named(),
      AddedAt: z.string().meta({ description: 'RFC 3339 UTC.' }),
      FullTunnel: z
        .boolean()
        .meta({ description: 'Its configuration sends all to this node, what is for the Internet too.' }),
      NodeEndpoint: z.string().nullable().meta({
        description: 'Where its configuration finds this node; null: it was added before that was kept.',
      }),
      NodeMoved: z
        .boolean()
        .meta({ description: 'This node is not there any more: change `Endpoint` in the app.' }),
      Handshake: z
        .string()
        .nullable()
        .meta({ description: 'Last one since this node started, RFC 3339 UTC; null: none.' }),
      Endpoint: z.string().nullable().meta({ description: 'Where it was heard from last.' }),
      PacketsIn: count(),
      PacketsOut: count(),
      BytesIn: count().meta({ description: 'From the guest, since this node started.' }),
      BytesOut: count(),
    })
    .meta({ id: 'Guest' }),
)
export type GuestView = z.output<ReturnType<typeof guestView>>

export const guestConfigurationView = later(() =>
  z
    .object({
      ...named(),
      Endpoint: z.string().meta({ description: 'Where it finds this node.' }),
      Configuration: z
        .string()
        .meta({ description: "For any WireGuard app; holds the guest's private key." }),
    })
    .meta({ id: 'GuestConfiguration' }),
)
export type GuestConfigurationView = z.output<ReturnType<typeof guestConfigurationView>>
