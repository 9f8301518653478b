/** Who is there: what the ledger tells of members, and how peers are reached. */
import * as z from 'zod'
import { boundedAddress, lookupName } from '../names.ts'
import { pageOfKeys, pageOfPeers } from '../paging.ts'
import { routesOf } from '../route.ts'
import { fileView, machineView, nodeView, serviceView, summaryView, userView } from '../views/members.ts'
import { removedView } from '../views/offers.ts'
import { pathReportView } from '../views/paths.ts'
import { peerPingView, peerView } from '../views/peer.ts'
import { json, list } from './answers.ts'

const route = routesOf('network')

export const networkRoutes = {
  getSummary: route('GET /api/summary', {
    summary: 'Counts of what the ledger holds, and who this node is',
    answer: json(summaryView, 'The summary of this node.'),
    errors: [],
  }),
  listUsers: route('GET /api/users', {
    summary: 'Peers that announced that they connect to services',
    query: z.object(pageOfKeys),
    answer: list(userView, 'The bucket `users`.'),
    errors: [],
  }),
  listServices: route('GET /api/services', {
    summary: 'Services that members expose',
    query: z.object(pageOfKeys),
    answer: list(serviceView, 'The bucket `services`.'),
    errors: [],
  }),
  listFiles: route('GET /api/files', {
    summary: 'Files that members share',
    query: z.object(pageOfKeys),
    answer: list(fileView, 'The bucket `files`.'),
    errors: [],
  }),
  listMachines: route('GET /api/machines', {
    summary: 'Machines with their VPN address and state',
    query: z.object(pageOfPeers),
    answer: list(machineView, 'The bucket `machines`, one row for each machine, with connection state.'),
    errors: [],
  }),
  listNodes: route('GET /api/nodes', {
    summary: 'Peers considered online: on the topic, or with a heartbeat within 10 minutes',
    query: z.object(pageOfPeers),
    answer: list(nodeView, 'Online peers, this node included.'),
    errors: [],
  }),
  listPeerstore: route('GET /api/peerstore', {
    summary: 'Every peer that this node knows, members or not',
    query: z.object(pageOfPeers),
    answer: list(nodeView, 'Known peers, this node included; Online: a live connection.'),
    errors: [],
  }),
  listPeers: route('GET /api/peers', {
    summary: 'How each peer is reached: path, transport, round trip, traffic, last error',
    query: z.object(pageOfPeers),
    answer: list(peerView, 'Connected and known peers, without this node.'),
    errors: [],
  }),
  pingPeer: route('GET /api/peers/:peer/ping', {
    summary: 'Reach a peer now over libp2p and measure: by peer id, name or VPN address; needs no VPN',
    params: z.object({ peer: lookupName.meta({ example: 'nas' }) }),
    answer: json(peerPingView, 'How it was reached.'),
    errors: ['peer.unknown', 'peer.ambiguous', 'peer.unreachable'],
  }),
  addPeer: route('POST /api/peers', {
    level: 'admin',
    isLocal: true,
    summary: 'Connect to a peer: by its peer id, or by an address that ends with it',
    body: z
      .object({
        Address: boundedAddress.meta({
          example: '/ip4/192.0.2.7/tcp/4001/p2p/12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
        }),
      })
      .meta({ id: 'PeerRequest' }),
    answer: json(peerPingView, 'It is connected.'),
    errors: ['node.local_only', 'node.not_ready', 'peer.bad_address', 'peer.unknown', 'peer.unreachable'],
  }),
  forgetPeer: route('DELETE /api/peers/:peer', {
    level: 'admin',
    isLocal: true,
    summary: 'Close the connections to a peer and forget its addresses; it may be found again',
    params: z.object({ peer: lookupName }),
    answer: json(removedView, 'It is forgotten.'),
    errors: ['node.local_only', 'node.not_ready', 'peer.unknown', 'peer.ambiguous'],
  }),
  listPaths: route('GET /api/paths', {
    summary:
      'How members reach each other, as each tells; who was not asked for 30 s is asked now, for the next time',
    answer: list(pathReportView, 'One report for each connected member, this node first.'),
    errors: [],
  }),
} as const
