/** Schemas of what this node offers to members, and of what it connects to. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, path, peerId } from './fields.ts'

const offerState = later(() => ({
  LastError: z.string().nullable().meta({ description: 'What last went wrong, in words.' }),
  Kept: z.boolean().meta({ description: 'Comes back after a restart; false: it was given by an option.' }),
}))

const traffic = later(() => ({
  OpenConnections: count(),
  Connections: count().meta({ description: 'Since the start.' }),
  BytesIn: count().meta({ description: 'From members.' }),
  BytesOut: count().meta({ description: 'To members.' }),
}))

const transport = later(() =>
  z.string().nullable().meta({
    description:
      'What the newest connection goes over: tcp tls for a TLS connection of its own, else what carries libp2p, as tcp or webrtc.',
  }),
)

export const nodeServiceView = later(() =>
  z
    .object({
      Name: z.string(),
      Target: z.string().meta({
        description:
          'HOST:PORT, udp:HOST:PORT or unix:PATH on this machine; `program`: the process of the node serves it.',
      }),
      State: z.enum(['checking', 'announcing', 'announced', 'target down']),
      Since: z.string().nullable().default(null).meta({
        description:
          'When the target began to answer, or with target down ceased to: RFC 3339 UTC. null: it was not asked yet.',
      }),
      Owner: z.string().nullable().meta({
        description:
          'Peer id of the other member that offered the name first and owns its key; members reach this node beside it. null: nobody else.',
      }),
      ...traffic(),
      ...offerState(),
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
      Provider: z.string().nullable().meta({ description: 'Peer id of the live member in use.' }),
      Providers: count().default(0).meta({ description: 'The number of live members that offer it.' }),
      Path: path().nullable().meta({ description: 'Null while the provider is not connected.' }),
      Transport: transport(),
      ...traffic(),
      ...offerState(),
    })
    .meta({ id: 'NodeConnection' }),
)
export type NodeConnectionView = z.output<ReturnType<typeof nodeConnectionView>>

const leftOutNames = () =>
  z.array(z.string()).default([]).meta({ description: 'The first 20 of them, each as `PATH: REASON`.' })

export const nodeFileView = later(() =>
  z
    .object({
      Name: z.string(),
      Path: z.string().meta({ description: 'On this machine, absolute.' }),
      State: z.enum(['announced', 'announcing', 'name taken']),
      Owner: z.string().nullable().meta({ description: 'With name taken: the peer id of who has it.' }),
      LeftOut: count().meta({
        description:
          'Links, special files, and names that the last receiver cannot have, if it is an older version; they are not sent.',
      }),
      LeftOutNames: leftOutNames(),
      Completed: count().meta({ description: 'Receivers that got all of it since the start.' }),
      Receivers: z.array(
        z.object({
          PeerID: peerId(),
          Path: path(),
          Transport: transport(),
          Bytes: count(),
          TotalBytes: count().nullable(),
          Rate: z.number().meta({ description: 'Bytes per second over the last 5 s.' }),
        }),
      ),
      ...offerState(),
    })
    .meta({ id: 'NodeFile' }),
)
export type NodeFileView = z.output<ReturnType<typeof nodeFileView>>

export const nodeDownloadView = later(() =>
  z
    .object({
      Name: z.string(),
      Destination: z.string().meta({ description: 'Where it is to stand on this machine, or go into.' }),
      State: z.enum(['waiting', 'connecting', 'receiving', 'retrying', 'received', 'failed']).meta({
        description: 'waiting: no live member offers it. retrying: it broke off, and is gone on with soon.',
      }),
      Provider: z.string().nullable().meta({ description: 'Peer id of the member that it comes from.' }),
      Path: path().nullable().meta({ description: 'Null while nothing comes.' }),
      Transport: transport(),
      Files: count().nullable().meta({ description: 'Files in the folder; null while that is not known.' }),
      Bytes: count().meta({ description: 'Those of earlier tries included.' }),
      TotalBytes: count().nullable(),
      Rate: z.number().meta({ description: 'Bytes per second over the last 5 s.' }),
      LeftMs: z.number().nullable().meta({ description: 'Milliseconds at this rate; null while unknown.' }),
      LeftOut: count().nullable().default(null).meta({
        description:
          'Null until received; entries that did not arrive: links, special files, names that the file system here does not take.',
      }),
      LeftOutNames: leftOutNames(),
      WrittenTo: z.string().nullable().meta({ description: 'Absolute; null until it is received.' }),
      Verified: z.boolean().nullable().meta({
        description: 'Null until received; false: an EdgeVPN-compatible sender says no hash.',
      }),
      LastError: z.string().nullable().meta({ description: 'With failed and retrying: what went wrong.' }),
      ErrorCode: z.string().nullable().meta({ description: 'With failed: its code.' }),
      Hint: z.string().nullable().meta({ description: 'With failed: what to do.' }),
    })
    .meta({ id: 'NodeDownload' }),
)
export type NodeDownloadView = z.output<ReturnType<typeof nodeDownloadView>>

export const nodeEgressView = later(() =>
  z
    .object({
      Offered: z
        .object({
          ...traffic(),
          Refusals: z.record(z.string(), count()).meta({ description: 'By code, since the start.' }),
        })
        .nullable()
        .meta({ description: 'What members reach through this node; null without --egress.' }),
      Proxy: z
        .object({
          Listen: z.string().meta({ description: 'Where programs of this machine reach it.' }),
          Egress: z.string().nullable().meta({
            description: 'Peer id of the member that the last requests left through.',
          }),
          Path: path().nullable().meta({ description: 'Null while that member is not connected.' }),
          Transport: transport(),
          ...traffic(),
          LastError: z.string().nullable().meta({ description: 'What last went wrong, in words.' }),
        })
        .nullable()
        .meta({ description: 'The local proxy; null without one.' }),
    })
    .meta({ id: 'NodeEgress' }),
)
export type NodeEgressView = z.output<ReturnType<typeof nodeEgressView>>

export const removedView = later(() => z.object({ State: z.literal('Removed') }).meta({ id: 'Removed' }))
export type RemovedView = z.output<ReturnType<typeof removedView>>

export const uploadView = later(() =>
  z
    .object({
      Name: z.string(),
      State: z.enum(['receiving', 'offered']).meta({ description: 'offered: it is whole.' }),
      Bytes: count().meta({ description: 'How many came; where the next piece begins.' }),
      TotalBytes: count(),
    })
    .meta({ id: 'Upload' }),
)
export type UploadView = z.output<ReturnType<typeof uploadView>>

export const sharedFilesView = later(() =>
  z
    .object({
      Name: z.string(),
      IsFolder: z.boolean(),
      Files: count(),
      TotalBytes: count(),
      Entries: z.array(
        z.object({
          Path: z.string().meta({ description: 'Names joined by slashes, from the top of the share.' }),
          IsFolder: z.boolean(),
          Bytes: count(),
          ModifiedAt: z.string().meta({ description: 'RFC 3339 UTC.' }),
        }),
      ),
      More: count().meta({ description: 'Entries that are not listed.' }),
    })
    .meta({ id: 'SharedFiles' }),
)
export type SharedFilesView = z.output<ReturnType<typeof sharedFilesView>>
