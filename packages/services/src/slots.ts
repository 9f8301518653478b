/** How many of something members may have here at a time: each peer, all peers of one address, and all together. */
import { addressGroup, KeyedCounts, type PeerId } from '@mesh/core'
import { MAX_ADDRESS_CONNECTIONS, MAX_PEER_CONNECTIONS, MAX_SERVED_CONNECTIONS } from './limits.ts'

/** Keys cost a member nothing, addresses do. */
export interface SlotBounds {
  /** The number of slots that one peer may hold. */
  readonly perPeer: number
  /** The number of slots that the peers of one address may hold. */
  readonly perAddress: number
  /** The number of slots that all peers may hold. */
  readonly inAll: number
}

export interface Slots {
  /**
   * Takes a slot where one is free.
   * @param address where the peer comes from; undefined where that is not known, which counts as one address
   * @returns gives it back, once however often it is called; undefined: no more now
   */
  take(peer: PeerId, address: string | undefined): (() => void) | undefined
  /** The number of slots that are taken. */
  readonly taken: number
}

/** Those of connections to services and egress together. */
const CONNECTIONS: SlotBounds = {
  perPeer: MAX_PEER_CONNECTIONS,
  perAddress: MAX_ADDRESS_CONNECTIONS,
  inAll: MAX_SERVED_CONNECTIONS,
}

/** @param bounds default: those of connections to services and egress together */
export function createSlots({ perPeer, perAddress, inAll }: SlotBounds = CONNECTIONS): Slots {
  const byPeer = new KeyedCounts<PeerId>()
  const byAddress = new KeyedCounts<string>()
  return {
    take(peer, address) {
      const group = addressGroup(address ?? '')
      if (byPeer.total >= inAll || byPeer.of(peer) >= perPeer) return undefined
      if (byAddress.of(group) >= perAddress) return undefined
      byPeer.add(peer)
      byAddress.add(group)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        byPeer.remove(peer)
        byAddress.remove(group)
      }
    },
    get taken() {
      return byPeer.total
    },
  }
}
