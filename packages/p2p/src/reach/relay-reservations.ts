/** Reservations of this node at members that relay: what the machines ask for, carried out by libp2p. */
import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp, relayOf } from '../addresses/address-rules.ts'
import type { MeshHost } from '../libp2p/base-host.ts'

export interface RelayReservations {
  /** Peers on which a reservation stands. */
  relays(): readonly string[]
  /** @throws what the relay or libp2p answers */
  reserve(peer: string): Promise<void>
  /** A relay that others can reach: this node dialled it directly, and not over loopback. */
  isUsable(connection: Connection): boolean
}

/** `allowLoopback`: relays over loopback help nobody, but tests want them. */
export function createRelayReservations(init: {
  readonly host: MeshHost
  readonly allowLoopback?: boolean
}): RelayReservations {
  const { host, allowLoopback = false } = init
  const { transportManager } = host.services.parts.components
  // the planner asks at each of its steps, and all listeners would look at the machine's interfaces
  let relays: readonly string[] | undefined
  const forget = () => {
    relays = undefined
  }
  host.addEventListener('transport:listening', forget)
  host.addEventListener('transport:close', forget)
  return {
    relays() {
      relays ??= [...new Set(transportManager.getAddrs().flatMap((address) => relayOf(address) ?? []))]
      return relays
    },
    reserve: (peer) => transportManager.listen([multiaddr(`/p2p/${peer}/p2p-circuit`)]),
    isUsable({ direct, direction, status, remoteAddr }) {
      if (!direct || direction !== 'outbound' || status !== 'open') return false
      // reached over a relay itself: others could not
      if (relayOf(remoteAddr) !== undefined) return false
      const ip = ipOf(remoteAddr)
      return allowLoopback || (ip !== undefined && !isLoopbackIp(ip))
    },
  }
}
