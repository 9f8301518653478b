/** The DHT that members meet in: the public one, or one that only nodes of ours speak. */
import type { AbortOptions, Connection, PeerDiscovery, PeerId, PeerInfo } from '@libp2p/interface'
import { kadDHT, passthroughMapper, type SingleKadDHT } from '@libp2p/kad-dht'
import { type Clock, KeyedCounts, type Random } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { sha256 } from '@noble/hashes/sha2.js'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_DHT_RECORDS, MAX_PROVIDERS, MAX_PROVIDERS_OF_ADDRESS } from './limits.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { PRIVATE_DHT_PROTOCOL, PUBLIC_DHT_PROTOCOL } from '../protocols.ts'
import { boundQuestions, providersOf } from '../upstream/kad-dht/questions.ts'
import { dhtComponents } from './dht-components.ts'
import type { RendezvousDht } from './rendezvous.ts'

/** The peers that let newcomers into the public DHT (docs/WIRE.md 2.1). */
const PUBLIC_BOOTSTRAP = [
  'QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN',
  'QmQCU2EcMqAqQPR2i9bChDtGNJchTbq5TbXJJ16u19uLTa',
  'QmbLHAnMoJPWSCR5Zhtx6BHJX9KiKNN6tpvbUcqanj75Nb',
  'QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt',
].map((peer) => `/dnsaddr/bootstrap.libp2p.io/p2p/${peer}`)
const RAW_CODEC = 0x55
const SHA2_256 = 0x12

export async function joinDht(
  context: {
    readonly host: MeshHost
    readonly spoken: Pick<SpokenProtocols, 'speaks'>
    readonly dialOne: (address: Multiaddr, signal: AbortSignal) => Promise<Connection>
    readonly dialFound: (
      peer: string,
      addresses: readonly Multiaddr[],
      signal: AbortSignal,
    ) => Promise<Connection>
    readonly clock: Clock
    readonly random: Random
  },
  { isPrivate }: { readonly isPrivate: boolean },
): Promise<RendezvousDht> {
  const { host, spoken, dialOne, dialFound, clock, random } = context
  const protocol = isPrivate ? PRIVATE_DHT_PROTOCOL : PUBLIC_DHT_PROTOCOL
  const build = kadDHT({
    protocol,
    allowQueryWithZeroPeers: true,
    // a private network has private addresses, and nobody from outside to say that a node is reachable
    ...(isPrivate ? { peerInfoMapper: passthroughMapper, clientMode: false } : {}),
  })
  const connect = async (peer: PeerId, { signal = new AbortController().signal }: AbortOptions) => {
    if (host.getConnections(peer).length > 0) return
    const { addresses } = await host.peerStore.get(peer, { signal })
    const known = addresses.map((address) => address.multiaddr)
    await dialFound(peer.toString(), known, signal)
  }
  // what libp2p does for services that are there from the start: without their addresses no walk gets beyond the first
  // peers; how many are kept is the peer book's business
  const keep = async ({ id, multiaddrs }: PeerInfo) => {
    if (id.equals(host.peerId) || multiaddrs.length === 0) return
    await host.peerStore.merge(id, { multiaddrs: multiaddrs.slice(0, MAX_PEER_ADDRESSES) }).catch(() => {})
  }
  const dht = (await joinService(host, 'dht', (components: Parameters<typeof build>[0]) => {
    const parts = { connect, budget: loopBudget(clock), maxRecords: MAX_DHT_RECORDS }
    const made = build(dhtComponents(components, parts))
    const finder = made as unknown as PeerDiscovery
    finder.addEventListener('peer', ({ detail }) => void keep(detail))
    boundQuestions(made, host, clock)
    return made
  })) as SingleKadDHT & {
    readonly routingTable: EventTarget & { add(peer: PeerId, options: AbortOptions): Promise<void> }
  }

  const askForProviders = providersOf(dht)

  /** Waits until a bootstrap peer of the public DHT answered, or another peer of it is known. */
  async function enterPublic(signal: AbortSignal): Promise<void> {
    const entered = new AbortController()
    const known = new Promise<void>((resolve) => {
      dht.routingTable.addEventListener('peer:add', () => resolve(), { signal: entered.signal })
    })
    const limit = AbortSignal.any([signal, entered.signal])
    const doors = PUBLIC_BOOTSTRAP.map((address) => dialOne(multiaddr(address), limit))
    try {
      await Promise.race([known, Promise.any(doors)])
    } finally {
      entered.abort(new Error('the DHT was entered'))
    }
  }

  return {
    async join(signal) {
      // who was connected before the DHT was there
      for (const { remotePeer } of host.getConnections()) {
        if (spoken.speaks(remotePeer.toString(), protocol)) await dht.routingTable.add(remotePeer, { signal })
      }
      if (!isPrivate && dht.routingTable.size === 0) await enterPublic(signal)
      return dht.routingTable.size
    },
    async provide(name, signal) {
      for await (const event of dht.provide(keyOf(name), { signal })) void event
    },
    async *findProviders(name, signal) {
      const counts = new KeyedCounts<string>()
      for await (const { from, providers } of askForProviders(keyOf(name), { signal })) {
        const [connection] = host.getConnections(from)
        const teller = connection === undefined ? '' : addressGroupOf(connection)
        for (const { id, multiaddrs } of shuffled(providers, random)) {
          if (id.equals(host.peerId)) continue
          if (counts.of(teller) >= MAX_PROVIDERS_OF_ADDRESS) break
          if (counts.total >= MAX_PROVIDERS) return
          counts.add(teller)
          yield { peer: id.toString(), addresses: multiaddrs, ...(teller !== '' && { from: teller }) }
        }
      }
    },
  }
}

/** Who tells of more than are read must not choose which. */
function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const placed = items.map((item) => ({ item, place: random.float() }))
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item)
}

/** Makes the key under which a name is provided: a CIDv1 of its text, as docs/WIRE.md 2.1 says. */
function keyOf(name: string): CID {
  return CID.createV1(RAW_CODEC, createDigest(SHA2_256, sha256(new TextEncoder().encode(name))))
}
