/** Offers of a node that the test plays: keeps what is uploaded, and tells of one folder of a member. */
import type { OfferShelf, OffersPort } from '@mesh/api-server'

export interface PlayedOffers extends OffersPort {
  /** The bytes of an upload. */
  received(name: string): Buffer | undefined
}

export function createPlayedOffers(): PlayedOffers {
  const files = new Map<string, Buffer>()
  const ModifiedAt = '2026-11-28T10:00:00Z'
  return {
    services: emptyShelf(),
    connections: emptyShelf(),
    files: emptyShelf(),
    downloads: emptyShelf(),
    received: (name) => files.get(name),
    async upload({ name, bytes, from, totalBytes }) {
      files.set(name, Buffer.concat([(files.get(name) ?? Buffer.alloc(0)).subarray(0, from), bytes]))
      const State = from + bytes.length === totalBytes ? ('offered' as const) : ('receiving' as const)
      return { Name: name, State, Bytes: from + bytes.length, TotalBytes: totalBytes }
    },
    receive: async () => {},
    look: async (Name) => ({
      Name,
      IsFolder: true,
      Files: 2,
      TotalBytes: 4_800_000,
      Entries: [
        { Path: 'summer', IsFolder: true, Bytes: 0, ModifiedAt },
        { Path: 'summer/beach.jpg', IsFolder: false, Bytes: 2_400_000, ModifiedAt },
        { Path: `summer/${'long-'.repeat(30)}name.jpg`, IsFolder: false, Bytes: 2_400_000, ModifiedAt },
      ],
      More: 0,
    }),
    egress: () => ({ Offered: null, Proxy: null }),
    subscribe: () => () => {},
  }
}

function emptyShelf<View>(): OfferShelf<View> {
  return { list: () => [], put: async () => {}, remove: async () => {} }
}
