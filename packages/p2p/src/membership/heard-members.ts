import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { HEARD_MEMBER_MS } from '../limits.ts'
import { MAX_HEARD_MEMBERS } from './limits.ts'

/** Peers that showed lately that they hold the network's key, by what they authored or by an earlier proof. */
export interface HeardMembers {
  note(peer: PeerId): void
  has(peer: string): boolean
}

export function createHeardMembers(clock: Clock): HeardMembers {
  /** Peer to ms of monotonic time, the one heard longest ago first. */
  const heardAt = new BoundedMap<string, number>(MAX_HEARD_MEMBERS)
  const has = (peer: string) => {
    const at = heardAt.get(peer)
    if (at === undefined) return false
    if (clock.monotonic() - at < HEARD_MEMBER_MS) return true
    heardAt.delete(peer)
    return false
  }
  return {
    note: (peer) => void heardAt.set(peer, clock.monotonic()),
    has,
  }
}
