/**
 * What the API answers with, in the field names of the specification. Each schema is made when it is first asked for:
 * a node that starts needs none of them, and all of them take it 5 ms.
 */
import * as z from 'zod'
import { jsonMap } from './json-map.ts'
import { later } from './later.ts'

const count = later(() => z.number().int().nonnegative())
const peerId = later(() => z.string().meta({ description: 'Peer id, base58.' }))

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

export const dnsView = later(() =>
  z
    .object({
      Regex: z.string(),
      Records: jsonMap(z.string()).meta({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Record type (A, AAAA, ..., TYPE65280) to value.',
      }),
    })
    .meta({ id: 'DNSRecord' }),
)
export type DnsView = z.output<ReturnType<typeof dnsView>>

export const dnsServerView = later(() =>
  z
    .object({
      Zone: z.string().meta({ description: 'Of the automatic names: `mesh.`' }),
      Listening: z.array(z.string()).meta({ description: 'ADDRESS:PORT, UDP and TCP.' }),
      Names: count().meta({ description: 'Automatic names: machines, services, addresses.' }),
      Patterns: count(),
      Cached: count().meta({ description: 'Forwarded answers that are kept.' }),
      Forwarders: z.array(
        z.object({
          Server: z.string(),
          Domain: z.string().meta({ description: '`.`: all names.' }),
          LastError: z.string().nullable(),
        }),
      ),
      Queries: jsonMap(count()).meta({ type: 'object', additionalProperties: { type: 'integer' } }),
    })
    .meta({ id: 'DNSServer' }),
)
export type DnsServerView = z.output<ReturnType<typeof dnsServerView>>

const nameClaim = later(() => z.object({ Name: z.string(), Owner: z.string() }))

export const nameResolutionView = later(() =>
  z
    .object({
      Name: z.string(),
      Type: z.string(),
      Code: z
        .string()
        .nullable()
        .meta({ description: 'NOERROR, NXDOMAIN, ...; null: whatever a forwarder says.' }),
      Records: z.array(z.object({ Name: z.string(), Type: z.string(), TTL: count(), Value: z.string() })),
      Source: z.enum(['machine', 'service', 'reverse', 'zone', 'pattern', 'forwarder', 'nobody']),
      Winner: nameClaim()
        .nullable()
        .meta({ description: 'The pattern or name that answers, and its owner.' }),
      Losers: z.array(nameClaim().extend({ Reason: z.string() })).meta({
        description:
          'Others that match: weaker, no_such_type, bad_value, bad_syntax, too_complex, too_many, automatic_name, later_claim.',
      }),
      Servers: z.array(z.string()).meta({ description: 'Who would be asked: ADDRESS:PORT.' }),
    })
    .meta({ id: 'NameResolution' }),
)
export type NameResolutionView = z.output<ReturnType<typeof nameResolutionView>>

export const nodeView = later(() => z.object({ ID: peerId(), Online: z.boolean() }).meta({ id: 'Node' }))
export type NodeView = z.output<ReturnType<typeof nodeView>>

/** 64 bits unsigned; a JSON number with all its digits, a `bigint` in programs. */
export const uint64 = later(() =>
  z
    .union([z.number().int().nonnegative(), z.bigint().nonnegative()])
    .transform((value) => BigInt(value))
    .meta({ type: 'integer', format: 'uint64', example: 1795228706793271000 }),
)

export const signedEntryView = later(() =>
  z
    .object({
      Value: z.string().meta({ description: 'JSON text exactly as signed.' }),
      Owner: z.string(),
      Version: uint64(),
      UpdatedAt: z.number().int().meta({ description: 'Unix time in seconds.' }),
      Deleted: z.boolean(),
      Sig: z.string().nullable().meta({ description: 'Ed25519 signature, base64.' }),
    })
    .meta({ id: 'SignedEntry' }),
)
export type SignedEntryView = z.output<ReturnType<typeof signedEntryView>>

const signedEntryReference = { $ref: '#/components/schemas/SignedEntry' }

export const blockView = later(() =>
  z
    .object({
      Index: count(),
      Timestamp: z.string(),
      Storage: jsonMap(jsonMap(signedEntryView())).meta({
        type: 'object',
        additionalProperties: { type: 'object', additionalProperties: signedEntryReference },
      }),
      Hash: z.string(),
      PrevHash: z.string(),
    })
    .meta({ id: 'Block' }),
)
export type BlockView = z.output<ReturnType<typeof blockView>>

/** Decoded values by key; with `?values=text` the signed texts. */
export const bucketView = later(() => jsonMap(z.unknown()))
export type BucketView = z.output<ReturnType<typeof bucketView>>

export const ledgerView = later(() =>
  jsonMap(bucketView()).meta({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: {} },
  }),
)
export type LedgerView = z.output<ReturnType<typeof ledgerView>>

export const digestView = later(() =>
  z
    .object({
      Entries: count(),
      Digest: z.string(),
      Buckets: jsonMap(z.string()).meta({ type: 'object', additionalProperties: { type: 'string' } }),
    })
    .meta({ id: 'Digest' }),
)
export type DigestView = z.output<ReturnType<typeof digestView>>

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
      Agent: z.string().nullable(),
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
const way = later(() =>
  z
    .enum(['sealed', 'plain', 'unknown'])
    .meta({ description: 'plain: a member of an older kind; unknown: nothing was sent to it yet.' }),
)
const path = later(() => z.enum(['direct', 'relayed']))

const vpnPeerView = later(() =>
  z
    .object({
      PeerID: peerId(),
      Hostname: z.string().meta({ description: 'As its machine says; empty when it says nothing.' }),
      Addresses: z.array(z.string()),
      Routes: z.array(z.string()).meta({ description: 'Networks behind it that this node accepted.' }),
      Way: way(),
      Path: path().nullable().meta({ description: 'null: not connected now.' }),
      Transport: z.string().nullable(),
      RoundTripMs: z.number().nullable().meta({ description: 'Last measured.' }),
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
        Accepted: z.array(
          z.object({
            CIDR: z.string(),
            PeerID: peerId(),
            Metric: z.number().int().meta({ description: 'Less is preferred.' }),
            InKernel: z.boolean().meta({ description: "false: the machine's own routes were left alone." }),
          }),
        ),
      }),
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
    })
    .meta({ id: 'VpnPing' }),
)
export type VpnPingView = z.output<ReturnType<typeof vpnPingView>>

export const writeView = later(() =>
  z
    .object({
      State: z.enum(['Announcing', 'Committed', 'Superseded']),
      Block: count().optional().meta({ description: 'With Committed: the block that holds the write.' }),
      Absent: z
        .literal(true)
        .optional()
        .meta({ description: 'With Committed, of a deletion: nothing was there to delete.' }),
    })
    .meta({ id: 'WriteState' }),
)
export type WriteView = z.output<ReturnType<typeof writeView>>

export const bucketDeleteView = later(() =>
  writeView()
    .extend({
      Refused: z
        .array(z.object({ Key: z.string(), Owner: z.string() }))
        .optional()
        .meta({ description: 'Keys that stay, with who owns them.' }),
    })
    .meta({ id: 'BucketDeleteState' }),
)
export type BucketDeleteView = z.output<ReturnType<typeof bucketDeleteView>>

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

const offerState = {
  LastError: later(() => z.string().nullable().meta({ description: 'What last went wrong, in words.' })),
  Kept: later(() =>
    z.boolean().meta({ description: 'Comes back after a restart; false: it was given by an option.' }),
  ),
}
const traffic = {
  OpenConnections: count,
  Connections: later(() => count().meta({ description: 'Since the start.' })),
  BytesIn: later(() => count().meta({ description: 'From members.' })),
  BytesOut: later(() => count().meta({ description: 'To members.' })),
}

export const nodeServiceView = later(() =>
  z
    .object({
      Name: z.string(),
      Target: z.string().meta({ description: 'HOST:PORT, udp:HOST:PORT or unix:PATH on this machine.' }),
      State: z.enum(['checking', 'announcing', 'announced', 'target down', 'name taken']),
      Owner: z.string().nullable().meta({ description: 'With name taken: the peer id of who has it.' }),
      OpenConnections: traffic.OpenConnections(),
      Connections: traffic.Connections(),
      BytesIn: traffic.BytesIn(),
      BytesOut: traffic.BytesOut(),
      LastError: offerState.LastError(),
      Kept: offerState.Kept(),
    })
    .meta({ id: 'NodeService' }),
)
export type NodeServiceView = z.output<ReturnType<typeof nodeServiceView>>

export const nodeConnectionView = later(() =>
  z
    .object({
      Name: z.string(),
      Listen: z.string().meta({ description: 'Where it is reached on this machine.' }),
      State: z.enum(['waiting for a provider', 'connecting', 'connected', 'failed']),
      Provider: z.string().nullable().meta({ description: 'Peer id of the live member that offers it.' }),
      Path: path().nullable().meta({ description: 'Null while the provider is not connected.' }),
      OpenConnections: traffic.OpenConnections(),
      Connections: traffic.Connections(),
      BytesIn: traffic.BytesIn(),
      BytesOut: traffic.BytesOut(),
      LastError: offerState.LastError(),
      Kept: offerState.Kept(),
    })
    .meta({ id: 'NodeConnection' }),
)
export type NodeConnectionView = z.output<ReturnType<typeof nodeConnectionView>>

export const nodeFileView = later(() =>
  z
    .object({
      Name: z.string(),
      Path: z.string().meta({ description: 'On this machine, absolute.' }),
      State: z.enum(['announced', 'announcing', 'name taken']),
      Owner: z.string().nullable().meta({ description: 'With name taken: the peer id of who has it.' }),
      Completed: count().meta({ description: 'Receivers that got all of it since the start.' }),
      Receivers: z.array(
        z.object({
          PeerID: peerId(),
          Bytes: count(),
          TotalBytes: count().nullable(),
          Rate: z.number().meta({ description: 'Bytes per second over the last 5 s.' }),
        }),
      ),
      LastError: offerState.LastError(),
      Kept: offerState.Kept(),
    })
    .meta({ id: 'NodeFile' }),
)
export type NodeFileView = z.output<ReturnType<typeof nodeFileView>>

export const removedView = later(() => z.object({ State: z.literal('Removed') }).meta({ id: 'Removed' }))
export type RemovedView = z.output<ReturnType<typeof removedView>>
