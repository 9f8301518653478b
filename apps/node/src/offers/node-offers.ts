/**
 * Manages what this node offers and connects to, for the API: 1 what options name, until the process ends; 2
 * what was put over the API, kept over restarts. Either is taken away by its name.
 */
import { isAbsolute, resolve } from 'node:path'
import type { OffersPort, OfferShelf } from '@mesh/api-server'
import { type Logger, MeshError } from '@mesh/core'
import type { Downloads, Egress, FileOffer, FileSharing, NamedAddress, Proxy, Services } from '@mesh/services'
import { createDownloadShelf } from './download-shelf.ts'
import type { KeptOffers, OfferKind } from '../state/kept-offers.ts'

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

interface Kind<State> {
  readonly kind: OfferKind
  readonly list: () => readonly Omit<State, 'isKept'>[]
  readonly add: (offer: NamedAddress) => Promise<void>
  readonly remove: (name: string) => unknown
  readonly placeOf: (state: Omit<State, 'isKept'>) => string
}

export function createNodeOffers(components: NodeOffersComponents): NodeOffers {
  const { services, files, kept, log } = components
  const kinds = {
    services: {
      kind: 'services',
      list: () => services.status().services,
      add: (offer: NamedAddress) => services.expose(offer),
      remove: (name: string) => services.withdraw(name),
      placeOf: ({ target }: { readonly target: string }) => target,
    },
    connections: {
      kind: 'connections',
      list: () => services.status().connections,
      add: (offer: NamedAddress) => services.connect(offer),
      remove: (name: string) => services.disconnect(name),
      placeOf: ({ listen }: { readonly listen: string }) => listen,
    },
    files: {
      kind: 'files',
      list: () => files.offers().map(fileState),
      add: ({ name, address }: NamedAddress) => files.offer(name, absolute(address)),
      remove: (name: string) => files.withdraw(name),
      placeOf: ({ path }: { readonly path: string }) => path,
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

  return {
    services: createShelf(kinds.services, kept),
    connections: createShelf(kinds.connections, kept),
    files: createShelf(kinds.files, kept),
    downloads: createDownloadShelf(components.downloads),
    egress: () => components.egress()?.status(),
    proxy: () => components.proxy()?.status(),
    subscribe(listener) {
      const stopServices = services.subscribe(({ type, name, status }) =>
        listener({ type, name, state: status?.state }),
      )
      const stopFiles = files.onChange((name) => {
        const state = files.offers().find((offer) => offer.name === name)
        listener({ type: 'file', name, state: state === undefined ? undefined : fileState(state).state })
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
    },
  }
}

function createShelf<State extends { readonly name: string }>(
  { kind, list, add, remove, placeOf }: Kind<State>,
  kept: KeptOffers,
): OfferShelf<State & { readonly isKept: boolean }> {
  return {
    list: () =>
      list()
        .map((state) => ({ ...(state as State), isKept: kept.has(kind, state.name as string) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async put(name, place) {
      const before = list().find((state) => state.name === name)
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

function fileState({ takenBy, isAnnounced, ...offer }: FileOffer) {
  const state = takenBy !== undefined ? 'name taken' : isAnnounced ? 'announced' : 'announcing'
  return { ...offer, owner: takenBy, state } as const
}

/** Programs ask from other folders than this node's. @throws MeshError `files.unreadable` */
function absolute(path: string): string {
  if (isAbsolute(path)) return resolve(path)
  throw new MeshError('files.unreadable', `${JSON.stringify(path)} is no absolute path`, {
    hint: 'Give the whole path, from the root of the file system.',
  })
}
