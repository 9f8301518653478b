/** Offers whose states the test reads back: what is put stands, what is removed is gone. */
import type {
  FetchedFile,
  OfferedConnection,
  OfferedFile,
  OfferedService,
  OfferShelf,
  OffersPort,
} from '../src/index.ts'

const TRAFFIC = { openConnections: 1, connections: 2, bytesIn: 30, bytesOut: 40 }
const FINE = { lastError: undefined, isKept: true }

type Listener = Parameters<OffersPort['subscribe']>[0]

export function createFakeOffers(): OffersPort {
  const listeners = new Set<Listener>()
  const tell: Listener = (event) => {
    for (const listener of listeners) listener(event)
  }
  return {
    services: shelf<OfferedService>(
      (name, target) => ({ name, target, state: 'announced', owner: undefined, ...TRAFFIC, ...FINE }),
      (name, state) => tell({ type: 'service', name, state }),
    ),
    connections: shelf<OfferedConnection>(
      (name, listen) => ({
        name,
        listen,
        state: 'waiting for a provider',
        provider: undefined,
        path: undefined,
        transport: undefined,
        ...TRAFFIC,
        ...FINE,
      }),
      (name, state) => tell({ type: 'connection', name, state }),
    ),
    files: shelf<OfferedFile>(
      (name, path) => ({
        name,
        path,
        state: 'announced',
        owner: undefined,
        leftOut: { count: 1, names: ['latest: a link'] },
        completed: 3,
        receivers: [],
        ...FINE,
      }),
      (name, state) => tell({ type: 'file', name, state }),
    ),
    downloads: shelf<FetchedFile>(
      (name, destination) => ({
        name,
        destination,
        state: 'failed',
        provider: undefined,
        path: undefined,
        transport: undefined,
        fileCount: undefined,
        bytes: 0,
        totalBytes: undefined,
        rate: 0,
        leftMs: undefined,
        writtenTo: undefined,
        isVerified: undefined,
        leftOut: undefined,
        lastError: 'the disk is full',
        errorCode: 'files.no_space',
        hint: 'Make room.',
      }),
      () => {},
    ),
    egress: () => ({ ...TRAFFIC, refusals: { forbidden: 2 } }),
    proxy: () => ({
      listen: '127.0.0.1:1080',
      egress: undefined,
      path: undefined,
      transport: undefined,
      lastError: undefined,
      ...TRAFFIC,
    }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function shelf<State extends { readonly name: string; readonly state: string }>(
  make: (name: string, place: string) => State,
  tell: (name: string, state: string | undefined) => void,
): OfferShelf<State> {
  const held = new Map<string, State>()
  return {
    list: () => [...held.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async put(name, place) {
      const state = make(name, place)
      held.set(name, state)
      tell(name, state.state)
    },
    async remove(name) {
      held.delete(name)
      tell(name, undefined)
    },
  }
}
