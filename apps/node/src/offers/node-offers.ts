/**
 * Manages what this node offers and connects to, for the API: 1 what options name, until the process ends; 2
 * what was put over the API, kept over restarts. Either is taken away by its name.
 */
import { isAbsolute, join, resolve } from 'node:path'
import type { NodeConnectionView, NodeEgressView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import type { OffersPort, OfferShelf } from '@mesh/api-server'
import { type Clock, type Logger, MeshError } from '@mesh/core'
import type {
  Downloads,
  Egress,
  EgressStatus,
  FileOffer,
  FileSharing,
  NamedAddress,
  Proxy,
  ProxyStatus,
  Services,
} from '@mesh/services'
import { createDownloadShelf } from './download-shelf.ts'
import { lookInto, sharedFilesView } from './shared-files.ts'
import { Uploads } from './uploads.ts'
import { makeFolder } from '../files/make-folder.ts'
import type { KeptOffers, OfferKind } from '../state/kept-offers.ts'

type ServiceStatus = ReturnType<Services['status']>['services'][number]
type ConnectionStatus = ReturnType<Services['status']>['connections'][number]

interface NodeOffersInit {
  readonly services: readonly NamedAddress[]
  readonly connections: readonly NamedAddress[]
  readonly files: readonly NamedAddress[]
}

export interface NodeOffersComponents {
  readonly services: Services
  readonly files: FileSharing
  readonly downloads: Downloads
  readonly kept: KeptOffers
  /** Holds the files that are put here over the API, and those that are received into the inbox. */
  readonly folder: string
  readonly clock: Clock
  /** Those of this node, once they stand. */
  readonly egress: () => Egress | undefined
  readonly proxy: () => Proxy | undefined
  readonly log: Logger
}

export interface NodeOffers extends OffersPort {
  /**
   * Begins with what options name, which must work, else the node does not start; what was kept and does not
   * is logged.
   */
  begin(init: NodeOffersInit): Promise<void>
}

interface Kind<View> {
  readonly kind: OfferKind
  readonly list: () => readonly Omit<View, 'Kept'>[]
  readonly add: (offer: NamedAddress) => Promise<void>
  readonly remove: (name: string) => unknown
  readonly placeOf: (view: Omit<View, 'Kept'>) => string
}

export function createNodeOffers(components: NodeOffersComponents): NodeOffers {
  const { services, files, kept, folder, clock, log } = components
  const uploads = new Uploads(join(folder, 'uploads'), (name, path) => fileShelf.put(name, path))
  // a slash at the end says that this is a folder
  const inbox = `${join(folder, 'inbox')}/`
  const kinds = {
    services: {
      kind: 'services',
      list: () => services.status().services.map(serviceView),
      add: (offer: NamedAddress) => services.expose(offer),
      remove: (name: string) => services.withdraw(name),
      placeOf: ({ Target }: Pick<NodeServiceView, 'Target'>) => Target,
    },
    connections: {
      kind: 'connections',
      list: () => services.status().connections.map(connectionView),
      add: (offer: NamedAddress) => services.connect(offer),
      remove: (name: string) => services.disconnect(name),
      placeOf: ({ Listen }: Pick<NodeConnectionView, 'Listen'>) => Listen,
    },
    files: {
      kind: 'files',
      list: () => files.offers().map(fileView),
      add: ({ name, address }: NamedAddress) => files.offer(name, absolute(address)),
      remove: (name: string) => files.withdraw(name),
      placeOf: ({ Path }: Pick<NodeFileView, 'Path'>) => Path,
    },
  } as const

  async function restore(kind: Pick<Kind<unknown>, 'kind' | 'add'>): Promise<void> {
    for (const [name, address] of Object.entries(kept.all(kind.kind))) {
      try {
        await kind.add({ name, address })
      } catch (error) {
        log.warn('a kept offer does not work any more', { kind: kind.kind, name, address, error })
      }
    }
  }

  const fileShelf = createShelf(kinds.files, kept)
  const downloads = createDownloadShelf(components.downloads)
  return {
    services: createShelf(kinds.services, kept),
    connections: createShelf(kinds.connections, kept),
    files: {
      ...fileShelf,
      async remove(name) {
        const path = files.offers().find((offer) => offer.name === name)?.path
        await fileShelf.remove(name)
        if (path !== undefined) uploads.forget(path)
      },
    },
    downloads,
    upload: (piece) => uploads.take(piece),
    look: async (name, signal) => sharedFilesView(name, await lookInto(components.downloads, name, signal)),
    async receive(name) {
      makeFolder(inbox)
      await downloads.put(name, inbox)
    },
    egress: () => egressView(components.egress()?.status(), components.proxy()?.status()),
    subscribe(listener) {
      const stopServices = services.subscribe(({ type, name, status }) =>
        listener({ type, name, state: status?.state }),
      )
      const stopFiles = files.onChange((name) => {
        const offer = files.offers().find((each) => each.name === name)
        listener({ type: 'file', name, state: offer && fileView(offer).State })
      })
      return () => {
        stopServices()
        stopFiles()
      }
    },
    async begin(init) {
      for (const kind of Object.values(kinds)) {
        for (const offer of init[kind.kind]) await kind.add(offer)
      }
      for (const kind of Object.values(kinds)) await restore(kind)
      uploads.sweep(Object.values(kept.all('files')), clock.now())
    },
  }
}

function createShelf<View extends { readonly Name: string; readonly Kept: boolean }>(
  { kind, list, add, remove, placeOf }: Kind<View>,
  kept: KeptOffers,
): OfferShelf<View> {
  return {
    list: () =>
      list()
        .map((view) => ({ ...view, Kept: kept.has(kind, view.Name as string) }) as View)
        .toSorted((a, b) => (a.Name < b.Name ? -1 : 1)),
    async put(name, place) {
      const before = list().find((view) => view.Name === name)
      if (before !== undefined) await remove(name)
      try {
        await add({ name, address: place })
      } catch (error) {
        // what was there goes on
        if (before !== undefined) await add({ name, address: placeOf(before) })
        throw error
      }
      kept.put(kind, name, place)
    },
    async remove(name) {
      await remove(name)
      kept.remove(kind, name)
    },
  }
}

function serviceView(status: ServiceStatus): Omit<NodeServiceView, 'Kept'> {
  const { name, target, state, since, owner = null, lastError = null } = status
  return {
    Name: name,
    Target: target,
    State: state,
    Since: since === undefined ? null : new Date(since).toISOString(),
    Owner: owner,
    ...trafficView(status),
    LastError: lastError,
  }
}

function connectionView(status: ConnectionStatus): Omit<NodeConnectionView, 'Kept'> {
  const { name, listen, state, lastError = null } = status
  const { provider = null, providers, path = null, transport = null } = status
  return {
    Name: name,
    Listen: listen,
    State: state,
    Provider: provider,
    Providers: providers,
    Path: path,
    Transport: transport,
    ...trafficView(status),
    LastError: lastError,
  }
}

function fileView(offer: FileOffer): Omit<NodeFileView, 'Kept'> {
  const { name, path, takenBy = null, isAnnounced, leftOut, completed, receivers, lastError = null } = offer
  return {
    Name: name,
    Path: path,
    State: takenBy !== null ? 'name taken' : isAnnounced ? 'announced' : 'announcing',
    Owner: takenBy,
    LeftOut: leftOut.count,
    LeftOutNames: [...leftOut.names],
    Completed: completed,
    Receivers: receivers.map(({ peer, path: way, transport = null, bytes, totalBytes = null, rate }) => ({
      PeerID: peer,
      Path: way,
      Transport: transport,
      Bytes: bytes,
      TotalBytes: totalBytes,
      Rate: rate,
    })),
    LastError: lastError,
  }
}

function egressView(offered: EgressStatus | undefined, proxy: ProxyStatus | undefined): NodeEgressView {
  return {
    Offered: offered === undefined ? null : { ...trafficView(offered), Refusals: { ...offered.refusals } },
    Proxy:
      proxy === undefined
        ? null
        : {
            Listen: proxy.listen,
            Egress: proxy.egress ?? null,
            Path: proxy.path ?? null,
            Transport: proxy.transport ?? null,
            ...trafficView(proxy),
            LastError: proxy.lastError ?? null,
          },
  }
}

function trafficView({
  openConnections,
  connections,
  bytesIn,
  bytesOut,
}: Pick<EgressStatus, 'openConnections' | 'connections' | 'bytesIn' | 'bytesOut'>) {
  return {
    OpenConnections: openConnections,
    Connections: connections,
    BytesIn: bytesIn,
    BytesOut: bytesOut,
  }
}

/** Programs ask from other folders than this node's. @throws MeshError `files.unreadable` */
function absolute(path: string): string {
  if (isAbsolute(path)) return resolve(path)
  throw new MeshError('files.unreadable', `${JSON.stringify(path)} is no absolute path`, {
    hint: 'Give the whole path, from the root of the file system.',
  })
}
