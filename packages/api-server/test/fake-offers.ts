/** Offers whose states the test reads back: what is put stands, what is removed is gone. */
import type { OfferShelf, OffersPort } from '../src/index.ts'

const TRAFFIC = { OpenConnections: 1, Connections: 2, BytesIn: 30, BytesOut: 40 }
const FINE = { LastError: null, Kept: true }
const NOBODY = { Provider: null, Path: null, Transport: null }

type Listener = Parameters<OffersPort['subscribe']>[0]

export function createFakeOffers(): OffersPort {
  const listeners = new Set<Listener>()
  const tell: Listener = (event) => {
    for (const listener of listeners) listener(event)
  }
  const downloads = shelf(
    (Name, Destination) => ({
      Name,
      Destination,
      State: 'failed' as const,
      ...NOBODY,
      Files: null,
      Bytes: 0,
      TotalBytes: null,
      Rate: 0,
      LeftMs: null,
      WrittenTo: null,
      Verified: null,
      LeftOut: null,
      LeftOutNames: [],
      LastError: 'the disk is full',
      ErrorCode: 'files.no_space',
      Hint: 'Make room.',
    }),
    () => {},
  )
  return {
    services: shelf(
      (Name, Target) => ({
        Name,
        Target,
        State: 'announced' as const,
        Since: '2026-11-21T12:00:00Z',
        Owner: null,
        ...TRAFFIC,
        ...FINE,
      }),
      (name, state) => tell({ type: 'service', name, state }),
    ),
    connections: shelf(
      (Name, Listen) => ({
        Name,
        Listen,
        State: 'waiting for a provider' as const,
        Providers: 0,
        ...NOBODY,
        ...TRAFFIC,
        ...FINE,
      }),
      (name, state) => tell({ type: 'connection', name, state }),
    ),
    files: shelf(
      (Name, Path) => ({
        Name,
        Path,
        State: 'announced' as const,
        Owner: null,
        LeftOut: 1,
        LeftOutNames: ['latest: a link'],
        Completed: 3,
        Receivers: [],
        ...FINE,
      }),
      (name, state) => tell({ type: 'file', name, state }),
    ),
    downloads,
    upload: async ({ name, from, totalBytes, bytes }) => ({
      Name: name,
      State: from + bytes.length < totalBytes ? ('receiving' as const) : ('offered' as const),
      Bytes: from + bytes.length,
      TotalBytes: totalBytes,
    }),
    look: async (name) => ({
      Name: name,
      IsFolder: false,
      Files: 1,
      TotalBytes: 3,
      Entries: [{ Path: name, IsFolder: false, Bytes: 3, ModifiedAt: '2026-01-01T00:00:00.000Z' }],
      More: 0,
    }),
    receive: (name) => downloads.put(name, '/inbox/'),
    egress: () => ({
      Offered: { ...TRAFFIC, Refusals: { forbidden: 2 } },
      Proxy: {
        Listen: '127.0.0.1:1080',
        Egress: null,
        Path: null,
        Transport: null,
        LastError: null,
        ...TRAFFIC,
      },
    }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function shelf<View extends { readonly Name: string; readonly State: string }>(
  make: (name: string, place: string) => View,
  tell: (name: string, state: string | undefined) => void,
): OfferShelf<View> {
  const held = new Map<string, View>()
  return {
    list: () => [...held.values()].toSorted((a, b) => (a.Name < b.Name ? -1 : 1)),
    async put(name, place) {
      const view = make(name, place)
      held.set(name, view)
      tell(name, view.State)
    },
    async remove(name) {
      held.delete(name)
      tell(name, undefined)
    },
  }
}
