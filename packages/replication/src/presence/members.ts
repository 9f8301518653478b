/** Which connected members speak `REPLICATION_PROTOCOL`, and which of them leads. */
import type { PeerId } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { REPLICATION_PROTOCOL } from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'

export interface Members {
  /** Connected members that speak the protocol. */
  ours(): readonly PeerId[]
  /** Says whether a peer is one of `ours`, at no cost; false until `watch` is called. */
  isOurs(peer: PeerId): boolean
  /** Keeps `isOurs` up to date. The returned function stops. */
  watch(): () => void
  /** Gives the leader of us and the connected members on the topic that speak the protocol. */
  leader(): PeerId
}

export interface MembersComponents {
  readonly self: PeerId
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
}

export function createMembers({ self, topic, channels }: MembersComponents): Members {
  const ours = () => channels.peersWith(REPLICATION_PROTOCOL)
  const near = new Set<PeerId>()
  return {
    ours,
    isOurs: (peer) => near.has(peer),
    watch() {
      for (const peer of ours()) near.add(peer)
      return channels.onPeerWith(REPLICATION_PROTOCOL, (peer, present) => {
        if (present) near.add(peer)
        else near.delete(peer)
      })
    },
    leader() {
      const speaking = new Set(ours())
      const candidates = [self, ...topic.peers().filter((peer) => speaking.has(peer))]
      return (leaderOf(candidates.toSorted()) ?? self) as PeerId
    },
  }
}
