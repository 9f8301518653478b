/** Schemas of what is known of members. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, peerId } from './fields.ts'

export const summaryView = later(() =>
  z
    .object({
      Files: count(),
      Machines: count().meta({ description: 'Each once, however many addresses it has.' }),
      Users: count(),
      Services: count(),
      BlockChain: count().meta({ description: 'Index of the last block.' }),
      OnChainNodes: count().meta({ description: 'Other members on the gossip topic.' }),
      Peers: count().meta({ description: 'Length of /api/peerstore.' }),
      NodeID: peerId(),
    })
    .meta({ id: 'Summary' }),
)

export type SummaryView = z.output<ReturnType<typeof summaryView>>

export const userView = later(() =>
  z.object({ PeerID: peerId(), Timestamp: z.string() }).meta({ id: 'User' }),
)

export type UserView = z.output<ReturnType<typeof userView>>

export const serviceView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Name: z.string(),
      Providers: z
        .array(peerId())
        .optional()
        .meta({ description: 'Further live members that offer it; absent where there are none.' }),
    })
    .meta({ id: 'Service' }),
)

export type ServiceView = z.output<ReturnType<typeof serviceView>>

export const fileView = later(() => z.object({ PeerID: peerId(), Name: z.string() }).meta({ id: 'File' }))

export type FileView = z.output<ReturnType<typeof fileView>>

export const machineView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Hostname: z.string(),
      OS: z.string(),
      Arch: z.string(),
      Address: z.string().meta({ description: 'Its IPv4 address where it has one, else its first.' }),
      Addresses: z.array(z.string()).meta({ description: 'All of them, IPv4 first.' }),
      Version: z.string(),
      Connected: z.boolean().meta({ description: 'A live connection exists.' }),
      OnChain: z.boolean().meta({ description: 'On the gossip topic.' }),
      Online: z.boolean().meta({ description: 'Heartbeat within 10 minutes.' }),
    })
    .meta({ id: 'Machine' }),
)

export type MachineView = z.output<ReturnType<typeof machineView>>

export const nodeView = later(() => z.object({ ID: peerId(), Online: z.boolean() }).meta({ id: 'Node' }))

export type NodeView = z.output<ReturnType<typeof nodeView>>
