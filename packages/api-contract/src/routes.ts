/** Every endpoint of the API, once. */
import * as z from 'zod'
import { eventTypeList, historyCount } from './events.ts'
import { later } from './later.ts'
import { boundedAddress, bucketName, entryKey, lookupName, pathValue, waitDuration } from './names.ts'
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
  'ledger.written_by_node',
  'ledger.over_quota',
  'ledger.store_failed',
  'ledger.stopped',
] as const
const putErrors = [...writeErrors, 'dns.bad_record'] as const

/** What a route of `/api/node/...` may answer with. */
const offerErrors = ['node.local_only', 'services.not_running'] as const
const offerWriteErrors = [
  ...offerErrors,
  'services.bad_name',
  'services.bad_address',
  'services.name_in_use',
  'services.too_many',
] as const
const offerName = z.object({ name: entryKey })
const offer = { tag: 'services', isLocal: true } as const
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

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
    answer: list(view.machineView, 'The bucket `machines`, one row for each machine, with connection state.'),
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
  pingPeer: defineRoute({
    method: 'GET',
    path: '/api/peers/:peer/ping',
    tag: 'network',
    summary: 'Reach a peer now over libp2p and measure: by peer id, name or VPN address; needs no VPN',
    params: z.object({ peer: lookupName.meta({ example: 'nas' }) }),
    answer: json(view.peerPingView, 'How it was reached.'),
    errors: ['peer.unknown', 'peer.ambiguous', 'peer.unreachable'],
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
          .custom<Readonly<Record<string, string>>>(isObject, 'an object of record type to text')
          .superRefine((records, context) => {
            for (const [type, text] of isObject(records) ? Object.entries(records) : []) {
              if (typeof text === 'string') continue
              context.addIssue({ code: 'custom', path: [type], message: 'text, like "10.1.0.11"' })
            }
          })
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
  listNodeServices: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/services',
    summary: 'Services that this node offers, and how each is',
    answer: list(view.nodeServiceView, 'By name.'),
    errors: offerErrors,
  }),
  getNodeService: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/services/:name',
    summary: 'One service that this node offers',
    params: offerName,
    answer: json(view.nodeServiceView, 'How it is.'),
    errors: [...offerErrors, 'services.unknown'],
  }),
  putNodeService: defineRoute({
    ...offer,
    method: 'PUT',
    path: '/api/node/services/:name',
    summary: 'Offer what listens at an address of this machine; kept over restarts',
    params: offerName,
    body: z
      .object({ Target: boundedAddress.meta({ example: '127.0.0.1:8080' }) })
      .meta({ id: 'NodeServiceRequest' }),
    answer: json(view.nodeServiceView, 'How it is.'),
    errors: offerWriteErrors,
  }),
  deleteNodeService: defineRoute({
    ...offer,
    method: 'DELETE',
    path: '/api/node/services/:name',
    summary: 'Withdraw a service',
    params: offerName,
    answer: json(view.removedView, 'It is withdrawn.'),
    errors: [...offerErrors, 'services.unknown'],
  }),
  listNodeConnections: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/connections',
    summary: 'Services of members that this node makes reachable here, and how each is',
    answer: list(view.nodeConnectionView, 'By name.'),
    errors: offerErrors,
  }),
  getNodeConnection: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/connections/:name',
    summary: 'One connection to a service',
    params: offerName,
    answer: json(view.nodeConnectionView, 'How it is.'),
    errors: [...offerErrors, 'services.unknown'],
  }),
  putNodeConnection: defineRoute({
    ...offer,
    method: 'PUT',
    path: '/api/node/connections/:name',
    summary: 'Make the service of that name reachable at an address of this machine; kept over restarts',
    params: offerName,
    body: z
      .object({ Listen: boundedAddress.meta({ example: '127.0.0.1:9000' }) })
      .meta({ id: 'NodeConnectionRequest' }),
    answer: json(view.nodeConnectionView, 'How it is.'),
    errors: [...offerWriteErrors, 'services.cannot_listen'],
  }),
  deleteNodeConnection: defineRoute({
    ...offer,
    method: 'DELETE',
    path: '/api/node/connections/:name',
    summary: 'End a connection to a service',
    params: offerName,
    answer: json(view.removedView, 'It is ended.'),
    errors: [...offerErrors, 'services.unknown'],
  }),
  listNodeFiles: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/files',
    summary: 'Files and folders that this node offers, and who receives them',
    answer: list(view.nodeFileView, 'By name.'),
    errors: offerErrors,
  }),
  getNodeFile: defineRoute({
    ...offer,
    method: 'GET',
    path: '/api/node/files/:name',
    summary: 'One file or folder that this node offers',
    params: offerName,
    answer: json(view.nodeFileView, 'How it is.'),
    errors: [...offerErrors, 'services.unknown'],
  }),
  putNodeFile: defineRoute({
    ...offer,
    method: 'PUT',
    path: '/api/node/files/:name',
    summary: 'Offer a file or folder of this machine; kept over restarts',
    params: offerName,
    body: z
      .object({ Path: boundedAddress.meta({ example: '/home/me/photos' }) })
      .meta({ id: 'NodeFileRequest' }),
    answer: json(view.nodeFileView, 'How it is.'),
    errors: [...offerErrors, 'services.bad_name', 'files.unreadable', 'files.too_many'],
  }),
  deleteNodeFile: defineRoute({
    ...offer,
    method: 'DELETE',
    path: '/api/node/files/:name',
    summary: 'Withdraw a file or folder; transfers of it end',
    params: offerName,
    answer: json(view.removedView, 'It is withdrawn.'),
    errors: [...offerErrors, 'services.unknown'],
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
    query: z.object({ types: eventTypeList.optional(), last: historyCount.optional() }),
    answer: { kind: 'events', description: 'A stream of events.' },
    errors: ['events.too_many_readers'],
  }),
  getNode: defineRoute({
    method: 'GET',
    path: '/api/node',
    tag: 'node',
    summary: 'Who this node is, in which network, where it listens and since when it runs',
    answer: json(view.nodeFactsView, 'This node.'),
    errors: [],
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
