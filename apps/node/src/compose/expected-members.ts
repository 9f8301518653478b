/** Says whom a node that has met nobody yet can expect to meet. */
import type { PeerStatus } from '@mesh/p2p'
import type { ExpectedMembers } from '@mesh/replication'

interface Surroundings {
  /** The ids of the peers that a person named to this node. */
  readonly named: readonly string[]
  readonly peers: readonly Pick<PeerStatus, 'id' | 'connected' | 'member' | 'lastError' | 'lastSeen'>[]
  /** Somebody of this network was found on this link by mDNS. */
  readonly isNear: boolean
  /** The ledger tells of no other node. */
  readonly isLonely: boolean
}

/**
 * A peer counts as being met where a person named it or it may be on this link, and until the first dial has failed or
 * membership is known.
 */
export function expectMembers({ named, peers, isNear, isLonely }: Surroundings): ExpectedMembers {
  const isBeingMet = (id: string) => {
    const peer = peers.find((each) => each.id === id)
    if (peer === undefined) return true
    return peer.connected ? !peer.member : peer.lastError === undefined && peer.lastSeen === undefined
  }
  if (named.some(isBeingMet)) return 'meeting'
  // where many machines start together the first handshakes take longer than a node alone need wait
  if (isNear && peers.some(({ id }) => isBeingMet(id))) return 'meeting'
  return named.length === 0 && peers.length === 0 && isLonely ? 'nobody' : 'somebody'
}
