/** Schemas of one peer, and of asking it. */
import * as z from 'zod'
import { later } from '../later.ts'
import { path, peerId } from './fields.ts'
import { statsView } from './traffic.ts'
import { udpView } from './vpn.ts'

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
      Relay: z.string().nullable().default(null).meta({
        description: 'The peer id of the relay that passes packets on; null: none.',
      }),
      FoundBy: z.array(z.string()).default([]).meta({
        description:
          'The ways of discovery that found it, as in /api/reachability; `incoming`: it dialled this node.',
      }),
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
