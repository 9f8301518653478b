/** Which connected members speak `REPLICATION_PROTOCOL`, and which of them leads. */
import type { PeerId } from '@mesh/core'
import { leaderOf } from '@mesh/ledger'
import { REPLICATION_PROTOCOL } from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'

export interface MembersComponents {
  readonly self: PeerId
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
}

export function createMembers({ self, topic, channels }: MembersComponents) {
  const ours = () => channels.peersWith(REPLICATION_PROTOCOL)
  return {
    /** Connected members that speak the protocol. */
    ours,
    isOurs: (peer: PeerId) => ours().includes(peer),
    /** Gives the leader of us and the connected members on the topic that speak the protocol. */
    leader(): PeerId {
      const speaking = new Set(ours())
      const candidates = [self, ...topic.peers().filter((peer) => speaking.has(peer))]
      return (leaderOf(candidates.toSorted()) ?? self) as PeerId
    },
  }
}

export type Members = ReturnType<typeof createMembers>
