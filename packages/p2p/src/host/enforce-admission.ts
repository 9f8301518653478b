/**
 * Applies a change of membership at once. Listeners hear of members that came and went. Streams of a peer that lost its right end, and
 * it hears nothing on the sealed topic. A peer that is only kept out keeps its connection, to ask for admission. A banned
 * peer loses it after it had time to hear of the ban.
 */
import type { Connection } from '@libp2p/interface'
import { type Clock, tryParsePeerId } from '@mesh/core'
import type { Bulk } from '../bulk/bulk.ts'
import type { GossipTopicService } from '../gossip/topic.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { BANNED_HEARS_MS } from './limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { Admission } from '../p2p-node.ts'
import {
  LEGACY_PROTOCOL_PREFIX,
  MEMBER_PROTOCOL,
  OWN_PROTOCOL_PREFIX,
  RELAY_HOP,
  RELAY_STOP,
} from '../protocols.ts'
import type { MemberStreams } from '../streams/member-streams.ts'

interface EnforcedParts {
  readonly host: MeshHost
  readonly membership: Membership
  readonly topic: Pick<GossipTopicService, 'admissionChanged'>
  readonly streams: Pick<MemberStreams, 'isUngated'>
  readonly bulk: Bulk | undefined
}

/** Begins to enforce; the returned function ends it. */
export function enforceAdmission(admission: Admission, parts: EnforcedParts, clock: Clock): () => void {
  const { host, membership, topic, bulk } = parts
  const closing = new Map<Connection, () => void>()
  const stopListening = admission.onChange(() => {
    membership.admissionChanged()
    topic.admissionChanged()
    const closed = new Set<string>()
    const isOut = ({ remotePeer }: Connection) => !admission.mayUse(remotePeer.toString())
    for (const connection of host.getConnections().filter(isOut)) {
      const id = connection.remotePeer.toString()
      const peer = tryParsePeerId(id)
      if (peer !== undefined && !closed.has(id)) bulk?.closePeer(peer)
      closed.add(id)
      closeStreams(connection, parts)
      if (!admission.isBanned(id) || closing.has(connection)) continue
      const abort = () => {
        closing.delete(connection)
        if (admission.isBanned(id)) connection.abort(new Error('the peer was shut out of the network'))
      }
      closing.set(connection, clock.after(BANNED_HEARS_MS, abort))
    }
  })
  return () => {
    stopListening()
    for (const cancel of closing.values()) cancel()
  }
}

const MEMBERS_PROTOCOLS = [OWN_PROTOCOL_PREFIX, LEGACY_PROTOCOL_PREFIX, RELAY_HOP, RELAY_STOP]

function closeStreams({ streams: open }: Connection, { streams }: EnforcedParts): void {
  // picked before any is aborted, which takes it out of libp2p's own list at once
  const members = open.filter(({ protocol }) => {
    if (protocol === MEMBER_PROTOCOL || streams.isUngated(protocol)) return false
    return MEMBERS_PROTOCOLS.some((prefix) => protocol.startsWith(prefix))
  })
  for (const stream of members) stream.abort(new Error('the peer is kept out of the network'))
}
