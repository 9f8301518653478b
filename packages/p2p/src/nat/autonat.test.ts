import { autoNATv2 } from '@libp2p/autonat-v2'
import { defaultLogger } from '@libp2p/logger'
import type { AddressManager } from '@libp2p/interface-internal'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import { withoutRelayedCandidates } from './autonat.ts'

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const STRAIGHT = '/ip4/8.8.4.4/tcp/4001'
const RELAYED = `/ip4/8.8.8.8/tcp/4001/p2p/${PEER}/p2p-circuit`

/** Runs the library's AutoNAT against this address manager; gives the addresses that it asks a new peer about. */
async function askedAbout(addressManager: AddressManager): Promise<string[]> {
  const { promise: opened, resolve } = Promise.withResolvers<string[]>()
  let meet: ((peer: unknown, connection: unknown) => void) | undefined
  const registrar = {
    register: async (_protocol: string, { onConnect }: { onConnect: typeof meet }) => {
      meet = onConnect
      return 'topology'
    },
    handle: async () => {},
    unhandle: async () => {},
  }
  const service = autoNATv2()({
    addressManager,
    registrar,
    logger: defaultLogger(),
    peerStore: { get: async () => ({ addresses: [] }) },
    connectionManager: { getConnections: () => [], getMaxConnections: () => 100 },
    randomWalk: { walk: async function* () {} },
  } as never) as unknown as { start(): Promise<void>; stop(): Promise<void>; client: AutoNatClient }
  await service.start()
  onTestFinished(() => service.stop())
  meet?.('a peer', {
    remotePeer: 'a peer',
    remoteAddr: multiaddr('/ip4/9.9.9.9/tcp/1'),
    newStream: async () => {
      resolve([...service.client.dialResults.keys()])
      throw new Error('nobody answers')
    },
  })
  return await opened
}

interface AutoNatClient {
  readonly dialResults: ReadonlyMap<string, unknown>
}

/** Two addresses of which nobody knows yet whether they lead here. */
const addressManager = {
  getAddressesWithMetadata: () =>
    [STRAIGHT, RELAYED].map((text) => ({
      multiaddr: multiaddr(text),
      verified: false,
      type: 'transport',
      expires: 0,
    })),
} as unknown as AddressManager

test('nobody is asked to dial an address that leads over a relay', async () => {
  expect(await askedAbout(withoutRelayedCandidates(addressManager))).toEqual([STRAIGHT])
})

test('the library by itself asks about it, too', async () => {
  expect(await askedAbout(addressManager)).toEqual([STRAIGHT, RELAYED])
})
