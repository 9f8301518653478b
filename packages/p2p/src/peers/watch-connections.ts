/** Tells of peers that come and go. */
import type { Connection } from '@libp2p/interface'
import type { P2pEvent } from '../p2p-node.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'

/** @returns stops watching */
export function watchConnections(parts: {
  readonly host: MeshHost
  readonly emit: (event: P2pEvent) => void
}): () => void {
  const { host, emit } = parts
  const paths = new Map<string, 'direct' | 'relayed'>()
  const onOpen = ({ detail }: CustomEvent<Connection>) => {
    const peer = detail.remotePeer.toString()
    const path = detail.direct ? 'direct' : 'relayed'
    const known = paths.get(peer)
    if (known === path || known === 'direct') return
    paths.set(peer, path)
    emit({ type: 'peer.connected', peer, path })
  }
  const onClose = ({ detail }: CustomEvent<Connection>) => {
    const peer = detail.remotePeer.toString()
    const left = connectionsTo(host, peer)[0]
    if (left !== undefined) {
      paths.set(peer, left.direct ? 'direct' : 'relayed')
      return
    }
    if (!paths.delete(peer)) return
    emit({ type: 'peer.disconnected', peer })
  }
  host.addEventListener('connection:open', onOpen)
  host.addEventListener('connection:close', onClose)
  return () => {
    host.removeEventListener('connection:open', onOpen)
    host.removeEventListener('connection:close', onClose)
  }
}
