/** Tells of peers that come and go, and of those that are reached another way than before; as `peers()` says it, where connections in doubt count for none. */
import type { Connection, Libp2p } from '@libp2p/interface'
import type { ConnectionChecks } from '../libp2p/liveness-checks.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import type { P2pEvent } from '../p2p-node.ts'

/** @returns stops watching */
export function watchConnections(parts: {
  readonly host: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>
  readonly checks: Pick<ConnectionChecks, 'onDoubt'>
  readonly emit: (event: P2pEvent) => void
}): () => void {
  const { host, checks, emit } = parts
  /** How each connected peer is reached, as it was told last. */
  const paths = new Map<string, 'direct' | 'relayed'>()
  const look = ({ remotePeer }: Connection) => {
    const peer = remotePeer.toString()
    const known = paths.get(peer)
    const [best] = connectionsTo(host, peer)
    if (best === undefined) {
      if (paths.delete(peer)) emit({ type: 'peer.disconnected', peer })
      return
    }
    const path = best.direct ? 'direct' : 'relayed'
    if (known === path) return
    paths.set(peer, path)
    emit({ type: 'peer.connected', peer, path })
  }
  const onChange = ({ detail }: CustomEvent<Connection>) => look(detail)
  host.addEventListener('connection:open', onChange)
  host.addEventListener('connection:close', onChange)
  const stopDoubts = checks.onDoubt(look)
  return () => {
    host.removeEventListener('connection:open', onChange)
    host.removeEventListener('connection:close', onChange)
    stopDoubts()
  }
}
