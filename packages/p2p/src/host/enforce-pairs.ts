/** Ends connections over relays between this node and members that access rules keep apart. */
import { isRelayed } from '../addresses/address-rules.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import type { PairRules } from '../p2p-node.ts'

/** Begins to enforce changes of the rules; the returned function ends it. */
export function enforcePairs(
  pairs: PairRules,
  host: Pick<MeshHost, 'getConnections' | 'peerId'>,
): () => void {
  const self = host.peerId.toString()
  return pairs.onChange(() => {
    for (const connection of host.getConnections()) {
      if (!isRelayed(connection.remoteAddr) || pairs.mayTalk(self, connection.remotePeer.toString())) continue
      connection.abort(new Error('access rules keep the two apart'))
    }
  })
}
