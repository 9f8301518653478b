/** Every endpoint of the API, once. */
import * as z from 'zod'
import { eventTypeList } from './events.ts'
import { later } from './later.ts'
import { bucketName, entryKey, lookupName, pathValue, waitDuration } from './names.ts'
import { type Answer, defineRoute, type RouteDefinition } from './route.ts'
import * as view from './views.ts'

const json = <Schema extends z.ZodType>(schema: () => Schema, description: string) =>
  ({ kind: 'json', schema, description }) as const satisfies Answer
const list = <Schema extends z.ZodType>(schema: () => Schema, description: string) =>
  json(
    later(() => z.array(schema())),
    description,
  )

const inBucket = z.object({ bucket: bucketName })
const atKey = z.object({ bucket: bucketName, key: entryKey })
const values = z.object({
  values: z
    .enum(['json', 'text'])
    .optional()
    .meta({ description: 'text: the signed texts instead of the decoded values.' }),
})
const wait = z.object({ wait: waitDuration.optional() })
const writeErrors = [
  'ledger.bad_value',
  'ledger.too_large',
  'ledger.not_owner',
  'ledger.over_quota',
  'ledger.store_failed',
  'ledger.stopped',
] as const
const putErrors = [...writeErrors, 'dns.bad_record'] as const

export const routes = {
  getSummary: defineRoute({
    method: 'GET',
    path: '/api/summary',
    tag: 'network',
    summary: 'Counts of what the ledger holds, and who this node is',
    answer: json(view.summaryView, 'The summary of this node.'),
    errors: [],
  }),
  listUsers: defineRoute({
    method: 'GET',
    path: '/api/users',
    tag: 'network',
    summary: 'Peers that announced that they connect to services',
    answer: list(view.userView, 'The bucket `users`.'),
    errors: [],
  }),
  listServices: defineRoute({
    method: 'GET',
    path: '/api/services',
    tag: 'network',
    summary: 'Services that members expose',
    answer: list(view.serviceView, 'The bucket `services`.'),
    errors: [],
  }),
  listFiles: defineRoute({
    method: 'GET',
    path: '/api/files',
    tag: 'network',
    summary: 'Files that members share',
    answer: list(view.fileView, 'The bucket `files`.'),
    errors: [],
  }),
  listMachines: defineRoute({
    method: 'GET',
    path: '/api/machines',
    tag: 'network',
    summary: 'Machines with their VPN address and state',
    answer: list(view.machineView, 'The bucket `machines`, with connection state.'),
    errors: [],
  }),
  listNodes: defineRoute({
    method: 'GET',
    path: '/api/nodes',
    tag: 'network',
    summary: 'Peers considered online: on the topic, or with a heartbeat within 10 minutes',
    answer: list(view.nodeView, 'Online peers, this node included.'),
    errors: [],
  }),
  listPeerstore: defineRoute({
    method: 'GET',
    path: '/api/peerstore',
    tag: 'network',
    summary: 'Every peer that this node knows, members or not',
    answer: list(view.nodeView, 'Known peers, this node included; Online: a live connection.'),
    errors: [],
  }),
  listPeers: defineRoute({
    method: 'GET',
    path: '/api/peers',
    tag: 'network',
    summary: 'How each peer is reached: path, transport, round trip, traffic, last error',
    answer: list(view.peerView, 'Connected and known peers, without this node.'),
    errors: [],
  }),
  getVpn: defineRoute({
    method: 'GET',
    path: '/api/vpn',
    tag: 'vpn',
    summary: 'The network interface, its addresses and routes, and how each machine is reached',
    answer: json(view.vpnView, 'The VPN of this node.'),
    errors: ['vpn.not_running'],
  }),
  pingMachine: defineRoute({
    method: 'GET',
    path: '/api/vpn/ping/:machine',
    tag: 'vpn',
    summary: 'Reach a machine now and measure: by VPN address, host name or peer id',
    params: z.object({ machine: lookupName.meta({ example: '10.1.0.12' }) }),
    answer: json(view.vpnPingView, 'How it was reached.'),
    errors: ['vpn.not_running', 'vpn.unknown_machine', 'vpn.ambiguous_machine', 'vpn.unreachable'],
  }),
  listDns: defineRoute({
    method: 'GET',
    path: '/api/dns',
    tag: 'dns',
    summary: 'Registered name patterns and their records',
    answer: list(view.dnsView, 'The bucket `dns`.'),
    errors: [],
  }),
  createDns: defineRoute({
    method: 'POST',
    path: '/api/dns',
    tag: 'dns',
    summary: 'Register a name pattern',
    query: wait,
    body: z
      .object({
        Regex: entryKey,
        Records: z
          .custom<Readonly<Record<string, string>>>(
            (value) =>
              typeof value === 'object' &&
              value !== null &&
              !Array.isArray(value) &&
              Object.values(value).every((text) => typeof text === 'string'),
            'an object of record type to text',
          )
          .meta({
            type: 'object',
            additionalProperties: { type: 'string' },
            example: { A: '10.1.0.11' },
          }),
      })
      .meta({ id: 'DNSRequest' }),
    answer: json(view.writeView, 'What became of the write.'),
    errors: putErrors,
  }),
  getDnsServer: defineRoute({
    method: 'GET',
    path: '/api/dns/server',
    tag: 'dns',
    summary: 'The DNS server of this node: where it listens, what it knows, whom it asks',
    answer: json(view.dnsServerView, 'The DNS server.'),
    errors: ['dns.not_running'],
  }),
  resolveName: defineRoute({
    method: 'GET',
    path: '/api/dns/resolve/:name',
    tag: 'dns',
    summary: 'Test a name: who would answer for it, from which pattern, and why not from the others',
    params: z.object({ name: lookupName.meta({ example: 'laptop.mesh' }) }),
    query: z.object({
      type: z
        .string()
        .max(20)
        .optional()
        .meta({ description: 'Record type; A unless given.', example: 'AAAA' }),
    }),
    answer: json(view.nameResolutionView, 'The answer of this network, also on a node without a DNS server.'),
    errors: ['dns.busy', 'node.not_ready'],
  }),
  getBlock: defineRoute({
    method: 'GET',
    path: '/api/blockchain',
    tag: 'ledger',
    summary: 'The last block with every signed entry, tombstones included',
    answer: json(view.blockView, 'The last block.'),
    errors: [],
  }),
  getSignedEntry: defineRoute({
    method: 'GET',
    path: '/api/blockchain/:bucket/:key',
    tag: 'ledger',
    summary: 'One signed entry, a tombstone too',
    params: atKey,
    answer: json(view.signedEntryView, 'The entry as it is signed and replicated.'),
    errors: ['ledger.not_found'],
  }),
  getDigest: defineRoute({
    method: 'GET',
    path: '/api/digest',
    tag: 'ledger',
    summary: 'Equal on two nodes exactly when they hold the same live entries (without healthcheck)',
    answer: json(view.digestView, 'The digest of the ledger.'),
    errors: [],
  }),
  getLedger: defineRoute({
    method: 'GET',
    path: '/api/ledger',
    tag: 'ledger',
    summary: 'The values of all live entries by bucket and key',
    query: values,
    answer: json(view.ledgerView, 'Values by bucket and key.'),
    errors: [],
  }),
  getBucket: defineRoute({
    method: 'GET',
    path: '/api/ledger/:bucket',
    tag: 'ledger',
    summary: 'The values of one bucket; empty when nobody has written it',
    params: inBucket,
    query: values,
    answer: json(view.bucketView, 'Values by key.'),
    errors: [],
  }),
  getEntry: defineRoute({
    method: 'GET',
    path: '/api/ledger/:bucket/:key',
    tag: 'ledger',
    summary: 'The value of one live entry',
    params: atKey,
    query: values,
    answer: json(later(z.unknown), 'The decoded value.'),
    errors: ['ledger.not_found'],
  }),
  putText: defineRoute({
    method: 'PUT',
    path: '/api/ledger/:bucket/:key/*value',
    tag: 'ledger',
    summary: 'Write a string; the value is the rest of the path',
    params: atKey.extend({ value: pathValue }),
    query: wait,
    answer: json(view.writeView, 'What became of the write.'),
    errors: putErrors,
  }),
  putJson: defineRoute({
    method: 'PUT',
    path: '/api/ledger/:bucket/:key',
    tag: 'ledger',
    summary: 'Write any JSON value',
    params: atKey,
    query: wait,
    body: z.unknown(),
    answer: json(view.writeView, 'What became of the write.'),
    errors: putErrors,
  }),
  deleteEntry: defineRoute({
    method: 'DELETE',
    path: '/api/ledger/:bucket/:key',
    tag: 'ledger',
    summary: 'Delete one key',
    params: atKey,
    query: wait,
    answer: json(view.writeView, 'What became of the write.'),
    errors: writeErrors,
  }),
  deleteBucket: defineRoute({
    method: 'DELETE',
    path: '/api/ledger/:bucket',
    tag: 'ledger',
    summary: 'Delete what this node may delete of a bucket',
    params: inBucket,
    query: wait,
    answer: json(view.bucketDeleteView, 'What became of the write, and what stays.'),
    errors: writeErrors,
  }),
  getTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics',
    tag: 'traffic',
    summary: 'Traffic of the whole node',
    answer: json(view.statsView, 'Bytes and bytes per second.'),
    errors: ['metrics.no_reporter'],
  }),
  listProtocolTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/protocol',
    tag: 'traffic',
    summary: 'Traffic by protocol id',
    answer: json(view.statsMapView, 'Stats by protocol id.'),
    errors: ['metrics.no_reporter'],
  }),
  getProtocolTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/protocol/*protocol',
    tag: 'traffic',
    summary: 'Traffic of one protocol; zeros when there was none',
    params: z.object({ protocol: lookupName.meta({ example: '/meshsub/1.2.0' }) }),
    answer: json(view.statsView, 'Stats of the protocol.'),
    errors: ['metrics.no_reporter'],
  }),
  listPeerTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/peer',
    tag: 'traffic',
    summary: 'Traffic by peer id',
    answer: json(view.statsMapView, 'Stats by peer id.'),
    errors: ['metrics.no_reporter'],
  }),
  getPeerTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/peer/:peer',
    tag: 'traffic',
    summary: 'Traffic with one peer; zeros when there was none',
    params: z.object({ peer: lookupName }),
    answer: json(view.statsView, 'Stats of the peer.'),
    errors: ['metrics.no_reporter'],
  }),
  watchEvents: defineRoute({
    method: 'GET',
    path: '/api/events',
    tag: 'node',
    summary: 'What happens, as server-sent events; Last-Event-ID continues where a reader stopped',
    query: z.object({ types: eventTypeList.optional() }),
    answer: { kind: 'events', description: 'A stream of events.' },
    errors: ['events.too_many_readers'],
  }),
  getVersion: defineRoute({
    method: 'GET',
    path: '/api/version',
    tag: 'node',
    summary: 'Versions of the node, its API and its protocols',
    answer: json(view.versionView, 'Within one value of Api there are only additions.'),
    errors: [],
  }),
  getHealth: defineRoute({
    method: 'GET',
    path: '/api/health',
    tag: 'node',
    summary: 'What is wrong, with hints',
    answer: json(view.healthView, 'Problems, the worst first.'),
    errors: [],
  }),
  getOpenApi: defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'node',
    summary: 'This document',
    answer: json(
      later(() => z.looseObject({ openapi: z.string() })),
      'OpenAPI 3.1.',
    ),
    errors: [],
  }),
  getLiveness: defineRoute({
    method: 'GET',
    path: '/healthz',
    tag: 'node',
    summary: 'Does the process answer?',
    answer: { kind: 'text', description: '`ok`' },
    errors: [],
  }),
  getReadiness: defineRoute({
    method: 'GET',
    path: '/readyz',
    tag: 'node',
    summary: 'Has the node joined its network?',
    answer: { kind: 'text', description: '`ok`' },
    errors: ['node.not_ready'],
  }),
  getMetrics: defineRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'node',
    summary: 'Counters and gauges in the Prometheus text format',
    answer: { kind: 'text', description: 'Prometheus text.' },
    errors: [],
  }),
} as const satisfies Readonly<Record<string, RouteDefinition>>

export type Routes = typeof routes
export type RouteId = keyof Routes
