/** The VPN of this node. */
import * as z from 'zod'
import { jsonMap } from '../json-map.ts'
import { later } from '../later.ts'
import { count, path, peerId } from './fields.ts'

const counters = later(() => ({
  PacketsIn: count(),
  PacketsOut: count(),
  BytesIn: count().meta({ description: 'Of IP packets, without what sealing adds.' }),
  BytesOut: count(),
}))

const counts = later(() =>
  jsonMap(count()).meta({ type: 'object', additionalProperties: { type: 'integer' } }),
)

const reasons = (description: string) => counts().meta({ description })

const families = later(() => z.array(z.enum(['ipv4', 'ipv6'])))

const way = later(() =>
  z.enum(['sealed', 'plain', 'unknown']).meta({
    description: 'plain: a legacy (EdgeVPN-compatible) member; unknown: nothing was sent to it yet.',
  }),
)

const udpFields = later(() => ({
  State: z.enum(['direct', 'suspect', 'none']).meta({
    description:
      'direct: packets go over UDP; suspect: probes were lost or will be, and they go by the stream too; none: by it alone.',
  }),
  Reason: z
    .enum([
      'off',
      'unsupported',
      'searching',
      'blocked',
      'one-way',
      'both-vary',
      'one-varies',
      'same-nat',
      'too-small',
      'too-slow',
      'idle',
    ])
    .nullable()
    .meta({
      description:
        'Why not over UDP. off: this node has no socket for it; unsupported: the machine offers none; searching: probes are on their way; blocked: no probe arrived; one-way: its probes arrive, ours are not answered; both-vary: both NATs choose a port for each peer; one-varies: one does, and the other lets in only ports that were asked; same-nat: no probe arrived, and both are behind one NAT; too-small: packets of 1280 bytes do not pass; too-slow: probes are answered after more than a second; idle: no packets needed it.',
    }),
  Endpoint: z.string().nullable().meta({ description: 'The address in use, with its port.' }),
  RoundTripMs: z.number().nullable(),
}))

/** The way over UDP to one machine, or why there is none. */
export const udpView = later(() => z.object(udpFields()))

const candidateView = later(() =>
  z.object({
    Endpoint: z.string(),
    Kind: z.enum(['own', 'mapped', 'seen', 'heard']).meta({
      description:
        'own: of an interface; mapped: a port of its router; seen: others saw it there; heard: its probes came from there.',
    }),
    Answered: z.boolean(),
    Heard: z.boolean(),
    RoundTripMs: z.number().nullable(),
    MTU: count().meta({ description: 'The longest packet that was proven to pass; 0: none.' }),
  }),
)

const vpnPeerView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Hostname: z.string().meta({ description: 'As its machine says; empty when it says nothing.' }),
      Addresses: z.array(z.string()),
      Routes: z.array(z.string()).meta({ description: 'Networks behind it that this node accepted.' }),
      OffersExit: families()
        .nullable()
        .default(null)
        .meta({ description: 'The families that it forwards for members; null: it is no exit node.' }),
      Way: way(),
      Path: path().nullable().meta({ description: 'null: not connected now.' }),
      Transport: z.string().nullable(),
      RoundTripMs: z.number().nullable().meta({ description: 'Last measured.' }),
      UDP: udpView(),
      MTU: count().meta({ description: 'The longest packet for it, in bytes.' }),
      Since: z
        .string()
        .nullable()
        .meta({ description: 'Last handshake, RFC 3339 UTC; null without a session.' }),
      ...counters(),
      Drops: reasons('Packets dropped, by reason.'),
    })
    .meta({ id: 'VpnPeer' }),
)
export type VpnPeerView = z.output<ReturnType<typeof vpnPeerView>>

export const vpnView = later(() =>
  z
    .object({
      State: z
        .enum(['starting', 'leasing', 'running', 'failed', 'stopped'])
        .meta({ description: 'leasing: waits for an IPv4 address; failed: /api/health says why.' }),
      Interface: z.string().nullable().meta({ description: 'Its name; null before it is there.' }),
      MTU: count().nullable(),
      Offload: z.boolean().meta({ description: 'The system takes whole segments of TCP.' }),
      Addresses: z.array(z.string()).meta({ description: "This machine's, with the length of their range." }),
      Routes: z.object({
        Advertised: z.array(z.string()),
        Own: z
          .array(
            z.object({
              CIDR: z.string(),
              Metric: z.number().int(),
              State: z.enum(['active', 'standby']).meta({
                description: 'standby: another live member advertises the network with a lower metric.',
              }),
              Others: z
                .array(peerId())
                .meta({ description: 'Peer ids of the other live members that advertise it.' }),
            }),
          )
          .default([])
          .meta({ description: 'The advertised networks, with the other routers of each.' }),
        Accepted: z.array(
          z.object({
            CIDR: z.string(),
            PeerID: peerId(),
            Metric: z.number().int().meta({ description: 'Less is preferred.' }),
            InKernel: z.boolean().meta({ description: "false: the machine's own routes were left alone." }),
            Standby: z
              .array(peerId())
              .default([])
              .meta({ description: 'Peer ids of the routers that would take over.' }),
          }),
        ),
      }),
      ExitNode: z
        .object({
          Wanted: z.string().meta({
            description: 'As it was asked for; several with commas between them, or `any`.',
          }),
          PeerID: peerId().nullable(),
          Hostname: z.string(),
          State: z.enum(['searching', 'up', 'gone']).meta({
            description:
              'searching: not reached since it was chosen or the node started, a minute ago at most; gone: it was reached, or should have been by now. In both what leaves for the Internet is dropped.',
          }),
          Families: families().meta({ description: 'That it forwards.' }),
          Standby: z
            .array(peerId())
            .default([])
            .meta({ description: 'Peer ids of the exit nodes that would take over, the next one first.' }),
        })
        .nullable()
        .meta({
          description: 'The member that gets all that leaves for the Internet; null: none was asked for.',
        }),
      OffersExit: families()
        .nullable()
        .default(null)
        .meta({ description: 'The families that this node forwards for members; null: it is no exit node.' }),
      Peers: z.array(vpnPeerView()),
      Drops: reasons('Packets dropped, by reason: those for all peers and for none.'),
      Ignored: reasons('Ledger entries that nothing is routed by, by reason.'),
      Refusals: reasons('What peers did against the protocols of the VPN, by code.'),
    })
    .meta({ id: 'Vpn' }),
)
export type VpnView = z.output<ReturnType<typeof vpnView>>

export const vpnPingView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Hostname: z.string(),
      Address: z.string().meta({ description: 'The one that was asked for, or its first.' }),
      Way: way(),
      Path: path(),
      Transport: z.string().nullable(),
      RoundTripMs: z.number(),
      MTU: count(),
      UDP: z.object({ ...udpFields(), Candidates: z.array(candidateView()) }),
    })
    .meta({ id: 'VpnPing' }),
)
export type VpnPingView = z.output<ReturnType<typeof vpnPingView>>
