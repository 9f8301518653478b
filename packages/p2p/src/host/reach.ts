/** Everything that dials goes through here: one dialler, one set of rules. */
import type { Connection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createDialler, type Find } from '../discovery/dialler.ts'
import type { Way } from '../discovery/ways.ts'
import type { AddressRules } from './address-rules.ts'
import { oneForEachRelay, relayOf } from './announced-addresses.ts'
import type { MeshHost } from './base-host.ts'
import { connectionsTo } from './connections.ts'
import type { MeshNodeComponents } from './mesh-node.ts'
import type { PeerBook } from './peer-book.ts'
import { raceDial } from './race-dial.ts'

export interface Reach {
  found(way: Way, find: Find): void
  /** A member that went: dialled again where it was last known to be. */
  lost(peer: string): void
  dialOne(address: Multiaddr, signal: AbortSignal): Promise<Connection>
  stop(): void
}

export function createReach(
  parts: {
    readonly host: MeshHost
    readonly rules: AddressRules
    readonly book: PeerBook
    readonly self: string
    readonly onError: (peer: string, error: unknown) => void
  },
  components: MeshNodeComponents,
): Reach {
  const { host, rules, book, self } = parts
  const { transportManager, connectionManager } = host.services.parts.components
  const canDial = (address: Multiaddr) =>
    !rules.isBlocked(address) &&
    (isDnsaddr(address) || transportManager.dialTransportForMultiaddr(address) !== undefined)

  async function dialOne(address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    if (rules.isBlocked(address)) throw new Error('lies in a blocked range')
    // names that stand for several addresses are resolved by libp2p's own dialler
    if (isDnsaddr(address)) return await connectionManager.openConnection(address, { signal })
    return await transportManager.dial(address, { signal })
  }

  const dialler = createDialler(
    {
      self,
      isConnected: (peer) => connectionsTo(host, peer).length > 0,
      async dial(peer, addresses, signal) {
        const usable = addresses.filter((address) => canDial(address) && !isWebRtc(address))
        const direct = usable.filter((address) => relayOf(address) === undefined)
        await raceDial([...direct, ...oneForEachRelay(usable)].map(withPeer(peer)), {
          dialOne,
          clock: components.clock,
          signal,
        })
      },
      onError: parts.onError,
    },
    components,
  )
  return {
    found(way, find) {
      way.found(find.peer)
      const addresses = find.addresses.filter((address) => !rules.isBlocked(address))
      if (addresses.length > 0) dialler.found({ ...find, addresses })
      else if (find.addresses.length > 0)
        parts.onError(find.peer, new Error('every address lies in a range that is kept out'))
    },
    lost(peer) {
      const addresses = book.get(peer)?.addresses ?? []
      dialler.found({ peer, addresses: addresses.map((address) => multiaddr(address)), kind: 'member' })
    },
    dialOne,
    stop: dialler.stop,
  }
}

const isDnsaddr = (address: Multiaddr) => address.getComponents()[0]?.name === 'dnsaddr'
/** WebRTC needs a relayed connection first; the upgrade makes it. */
const isWebRtc = (address: Multiaddr) => address.getComponents().some(({ name }) => name === 'webrtc')

/** The transport checks who answers only when the address says who should. */
const withPeer = (peer: string) => (address: Multiaddr) =>
  address.getComponents().at(-1)?.name === 'p2p' ? address : address.encapsulate(`/p2p/${peer}`)
