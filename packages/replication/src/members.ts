/**
 * Who is on the topic: members that speak `/mesh/replication`, and older ones that do not. A member that is not
 * connected to us is told by its blocks: ours are partial ones, older members always send whole ones with a hash.
 */
import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { MAX_MEMBERS_REMEMBERED, OLDER_MEMBER_MS, REPLICATION_PROTOCOL } from './limits.ts'
import type { ReplicationChannels, ReplicationRoom } from './ports.ts'

export interface Members {
  /** Connected members that speak the protocol. */
  ours(): readonly PeerId[]
  /** Was an older member heard within ten minutes? */
  olderAbout(): boolean
  /** Older members heard within ten minutes. */
  older(): readonly PeerId[]
  heardOlder(author: PeerId): void
  /** Of us and the connected members on the topic that speak the protocol. */
  leader(): PeerId
}

export interface MembersComponents {
  readonly self: PeerId
  readonly room: ReplicationRoom
  readonly channels: ReplicationChannels
  readonly clock: Clock
}

export function createMembers({ self, room, channels, clock }: MembersComponents): Members {
  const heard = new BoundedMap<PeerId, number>(MAX_MEMBERS_REMEMBERED)
  const isOlder = (author: PeerId) => {
    const at = heard.get(author)
    return at !== undefined && at + OLDER_MEMBER_MS > clock.now()
  }
  const ours = () => channels.peersWith(REPLICATION_PROTOCOL)
  return {
    ours,
    olderAbout: () => [...heard.keys()].some(isOlder),
    older: () => [...heard.keys()].filter(isOlder),
    heardOlder(author) {
      heard.delete(author)
      if (ours().includes(author)) return
      heard.set(author, clock.now())
    },
    leader() {
      const speaking = new Set(ours())
      const candidates = [self, ...room.peers().filter((peer) => speaking.has(peer))]
      return (leaderOf(candidates.toSorted()) ?? self) as PeerId
    },
  }
}
