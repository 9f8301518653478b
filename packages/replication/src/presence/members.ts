/**
 * Who is on the topic: members that speak `/mesh/replication`, and legacy members that do not. A member that is not
 * connected to us is told by its blocks: ours are partial ones, legacy members always send whole ones with a hash.
 */
import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { MAX_MEMBERS_REMEMBERED, LEGACY_MEMBER_MS, REPLICATION_PROTOCOL } from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'

export interface Members {
  /** Connected members that speak the protocol. */
  ours(): readonly PeerId[]
  /** Was a legacy member heard within ten minutes? */
  hasLegacy(): boolean
  /** Legacy members heard within ten minutes. */
  legacy(): readonly PeerId[]
  heardLegacy(author: PeerId): void
  /** Of us and the connected members on the topic that speak the protocol. */
  leader(): PeerId
}

export interface MembersComponents {
  readonly self: PeerId
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
  readonly clock: Clock
}

export function createMembers({ self, topic, channels, clock }: MembersComponents): Members {
  const heard = new BoundedMap<PeerId, number>(MAX_MEMBERS_REMEMBERED)
  const isLegacy = (author: PeerId) => {
    const at = heard.get(author)
    return at !== undefined && at + LEGACY_MEMBER_MS > clock.now()
  }
  const ours = () => channels.peersWith(REPLICATION_PROTOCOL)
  return {
    ours,
    hasLegacy: () => [...heard.keys()].some(isLegacy),
    legacy: () => [...heard.keys()].filter(isLegacy),
    heardLegacy(author) {
      heard.delete(author)
      if (ours().includes(author)) return
      heard.set(author, clock.now())
    },
    leader() {
      const speaking = new Set(ours())
      const candidates = [self, ...topic.peers().filter((peer) => speaking.has(peer))]
      return (leaderOf(candidates.toSorted()) ?? self) as PeerId
    },
  }
}
