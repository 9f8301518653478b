/** Schemas of what is known of members and peers. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, path, peerId } from './fields.ts'
import { statsView } from './traffic.ts'
import { udpView } from './vpn.ts'

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
  z.object({ PeerID: peerId(), Name: z.string() }).meta({ id: 'Service' }),
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

export const peerView = later(() =>
  z
    .object({
      ID: peerId(),
      Name: z.string().meta({
        description:
          'What it says that it is called, to this node or in the ledger; others may have the same. Empty when it has none.',
      }),
      Connected: z.boolean(),
      Member: z.boolean(),
      Path: z.enum(['direct', 'relayed']).nullable(),
      Transport: z.string().nullable(),
      Addresses: z.array(z.string()),
      RoundTripMs: z.number().nullable(),
      LastSeen: z.string().nullable().meta({ description: 'RFC 3339 UTC.' }),
      LastError: z.string().nullable(),
      Reach: z.string().max(240).nullable().default(null).meta({
        description:
          'What is known of reaching it, what was tried and what comes next, in one line for people.',
      }),
      Agent: z.string().nullable(),
      UDP: udpView().nullable().default(null).meta({
        description:
          'How packets of the VPN go to it: over UDP, or why not; they go by the connection then. null: no VPN here, or no machine in it.',
      }),
      ...statsView().shape,
    })
    .meta({ id: 'Peer' }),
)
export type PeerView = z.output<ReturnType<typeof peerView>>

export const peerPingView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Name: z.string().meta({ description: 'Host name in the ledger; empty when it has none.' }),
      Member: z.boolean(),
      Path: path(),
      Transport: z.string().nullable(),
      RoundTripMs: z.number(),
    })
    .meta({ id: 'PeerPing' }),
)
export type PeerPingView = z.output<ReturnType<typeof peerPingView>>
