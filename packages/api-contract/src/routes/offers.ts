/**
 * Routes for what this node offers to members and takes of them: services, connections, files and downloads. The
 * kinds have the same four routes, which reach into this machine and so are served on unix sockets and
 * loopback addresses only.
 */
import * as z from 'zod'
import type { ErrorCode } from '../errors.ts'
import { boundedAddress, entryKey, wholeNumber } from '../names.ts'
import { routesOf } from '../route.ts'
import {
  nodeConnectionView,
  nodeDownloadView,
  nodeEgressView,
  nodeFileView,
  nodeServiceView,
  removedView,
  sharedFilesView,
  uploadView,
} from '../views/offers.ts'
import { json, list } from './answers.ts'

const commonErrors = ['node.local_only', 'services.not_running'] as const
const addressErrors = [
  'services.bad_name',
  'services.bad_address',
  'services.name_in_use',
  'services.too_many',
] as const
const route = routesOf('services')
const isLocal = true
const offerName = z.object({ name: entryKey })

interface OfferKind<Noun extends string, View extends z.ZodType, Body extends z.ZodType> {
  /** The kind's name in addresses: `/api/node/NOUN/NAME`. */
  readonly noun: Noun
  readonly view: () => View
  readonly body: Body
  /** The codes that a write may answer with beside `commonErrors`. */
  readonly putErrors: readonly ErrorCode[]
  readonly summaries: Readonly<Record<'list' | 'get' | 'put' | 'remove', string>>
  /** The sentence that a removal answers with: `It is withdrawn.` */
  readonly removed: string
  /** A write is taken on the control socket only. */
  readonly isOwnerOnly?: true
}

function offerRoutesOf<Noun extends string, View extends z.ZodType, Body extends z.ZodType>({
  noun,
  view,
  body,
  putErrors,
  summaries,
  removed,
  isOwnerOnly,
}: OfferKind<Noun, View, Body>) {
  const path = `/api/node/${noun}` as const
  const one = { isLocal, params: offerName } as const
  const errors = [...commonErrors, 'services.unknown'] as const
  const answer = json(view, 'How it is.')
  return {
    list: route(`GET ${path}`, {
      isLocal,
      summary: summaries.list,
      answer: list(view, 'By name.'),
      errors: commonErrors,
    }),
    get: route(`GET ${path}/:name`, { ...one, summary: summaries.get, answer, errors }),
    put: route(`PUT ${path}/:name`, {
      ...one,
      level: 'admin',
      ...(isOwnerOnly && { isOwnerOnly }),
      summary: summaries.put,
      body,
      answer,
      errors: [...commonErrors, ...(isOwnerOnly ? (['node.owner_only'] as const) : []), ...putErrors],
    }),
    remove: route(`DELETE ${path}/:name`, {
      ...one,
      level: 'admin',
      summary: summaries.remove,
      answer: json(removedView, removed),
      errors,
    }),
  }
}

const services = offerRoutesOf({
  noun: 'services',
  view: nodeServiceView,
  body: z
    .object({ Target: boundedAddress.meta({ example: '127.0.0.1:8080' }) })
    .meta({ id: 'NodeServiceRequest' }),
  putErrors: addressErrors,
  summaries: {
    list: 'Services that this node offers, and how each is',
    get: 'One service that this node offers',
    put: 'Offer what listens at an address of this machine; kept over restarts',
    remove: 'Withdraw a service',
  },
  removed: 'It is withdrawn.',
})

const connections = offerRoutesOf({
  noun: 'connections',
  view: nodeConnectionView,
  body: z
    .object({ Listen: boundedAddress.meta({ example: '127.0.0.1:9000' }) })
    .meta({ id: 'NodeConnectionRequest' }),
  putErrors: [...addressErrors, 'services.cannot_listen'],
  summaries: {
    list: 'Services of members that this node makes reachable here, and how each is',
    get: 'One connection to a service',
    put: 'Make the service of that name reachable at an address of this machine; kept over restarts',
    remove: 'End a connection to a service',
  },
  removed: 'It is ended.',
})

const files = offerRoutesOf({
  noun: 'files',
  view: nodeFileView,
  body: z.object({ Path: boundedAddress.meta({ example: '/srv/photos' }) }).meta({ id: 'NodeFileRequest' }),
  putErrors: ['services.bad_name', 'files.unreadable', 'files.too_many'],
  summaries: {
    list: 'Files and folders that this node offers, and who receives them',
    get: 'One file or folder that this node offers',
    put: 'Offer a file or folder of this machine; kept over restarts',
    remove: 'Withdraw a file or folder; transfers of it end',
  },
  removed: 'It is withdrawn.',
})

const downloads = offerRoutesOf({
  noun: 'downloads',
  view: nodeDownloadView,
  body: z
    .object({ Destination: boundedAddress.meta({ example: '/srv/inbox/' }) })
    .meta({ id: 'NodeDownloadRequest' }),
  isOwnerOnly: true,
  putErrors: ['services.bad_name', 'files.destination', 'files.too_many'],
  summaries: {
    list: 'Files and folders of members that this node fetches, and how the last ended',
    get: 'One file or folder that this node fetches',
    put: 'Fetch a file or folder to a path of this machine, as the user that the node runs as; not gone on with after a restart. Taken on the control socket only',
    remove: 'End a transfer; what has come is kept, and gone on with when it is asked for again',
  },
  removed: 'It is ended.',
})

export const offerRoutes = {
  listNodeServices: services.list,
  getNodeService: services.get,
  putNodeService: services.put,
  deleteNodeService: services.remove,
  listNodeConnections: connections.list,
  getNodeConnection: connections.get,
  putNodeConnection: connections.put,
  deleteNodeConnection: connections.remove,
  listNodeFiles: files.list,
  getNodeFile: files.get,
  putNodeFile: files.put,
  deleteNodeFile: files.remove,
  uploadNodeFile: route('PUT /api/node/files/:name/content', {
    isLocal,
    level: 'admin',
    takesBytes: true,
    summary: 'Put a file on this node piece by piece, each of 1 MiB at most; with the last it is offered',
    params: offerName,
    query: z.object({
      from: wholeNumber.meta({ description: 'Where the piece begins; 0 begins anew.', example: 0 }),
      of: wholeNumber.meta({ description: 'How many bytes the file has, 16 GiB at most.', example: 1234 }),
    }),
    answer: json(uploadView, 'How much of it has come.'),
    errors: [
      ...commonErrors,
      'services.bad_name',
      'files.too_many',
      'files.too_large',
      'files.wrong_piece',
      'files.no_space',
      'files.unreadable',
    ],
  }),
  lookIntoFile: route('GET /api/node/inbox/:name', {
    isLocal,
    level: 'admin',
    summary: 'Ask the member that offers a file or folder what is in it, and fetch nothing',
    params: offerName,
    answer: json(sharedFilesView, 'The first 1,000 entries.'),
    errors: [...commonErrors, 'services.bad_name', 'files.not_told'],
  }),
  receiveNodeFile: route('PUT /api/node/inbox/:name', {
    isLocal,
    level: 'admin',
    summary:
      "Fetch a file or folder of a member into this node's inbox; GET /api/node/downloads tells how far it is",
    params: offerName,
    answer: json(nodeDownloadView, 'How it is.'),
    errors: [...commonErrors, 'services.bad_name', 'files.destination', 'files.too_many'],
  }),
  listNodeDownloads: downloads.list,
  getNodeDownload: downloads.get,
  putNodeDownload: downloads.put,
  deleteNodeDownload: downloads.remove,
  getNodeEgress: route('GET /api/node/egress', {
    isLocal,
    summary: 'The way out through this node, and the local proxy that uses those of others',
    answer: json(nodeEgressView, 'How both are.'),
    errors: commonErrors,
  }),
} as const
