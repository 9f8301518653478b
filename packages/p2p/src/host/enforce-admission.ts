/**
 * Makes a change of who may use the network effective at once: members that came and went by it are told, and what is
 * open with a peer that may not any more ends. A peer that is only kept out keeps its connection, on which it can still
 * ask to be let in; one that is banned loses that, too.
 */
import type { Connection } from '@libp2p/interface'
import { tryParsePeerId } from '@mesh/core'
import type { Bulk } from '../bulk/bulk.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
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
  readonly streams: Pick<MemberStreams, 'isUngated'>
  readonly bulk: Bulk | undefined
}

/** Begins to enforce; the returned function ends it. */
export function enforceAdmission(admission: Admission, parts: EnforcedParts): () => void {
  const { host, membership, bulk } = parts
  return admission.onChange(() => {
    membership.admissionChanged()
    const closed = new Set<string>()
    for (const connection of host.getConnections()) {
      const id = connection.remotePeer.toString()
      if (admission.mayUse(id)) continue
      const peer = tryParsePeerId(id)
      if (peer !== undefined && !closed.has(id)) bulk?.closePeer(peer)
      closed.add(id)
      if (admission.isBanned(id)) connection.abort(new Error('the peer was shut out of the network'))
      else closeStreams(connection, parts)
    }
  })
}

function closeStreams({ streams: open }: Connection, { streams }: EnforcedParts): void {
  for (const stream of open) {
    const { protocol } = stream
    if (protocol === MEMBER_PROTOCOL || streams.isUngated(protocol)) continue
    const isMembers = [OWN_PROTOCOL_PREFIX, LEGACY_PROTOCOL_PREFIX, RELAY_HOP, RELAY_STOP].some((prefix) =>
      protocol.startsWith(prefix),
    )
    if (isMembers) stream.abort(new Error('the peer is kept out of the network'))
  }
}
