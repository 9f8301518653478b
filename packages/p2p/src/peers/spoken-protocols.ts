import type { IdentifyResult, Libp2p, PeerId as Libp2pPeerId } from '@libp2p/interface'
import { Listeners } from '../listeners.ts'
import { MAX_PEER_PROTOCOLS } from './limits.ts'

/** The protocols that connected peers speak, as identify last said; readable without waiting. */
export interface SpokenProtocols {
  speaks(peer: string, protocol: string): boolean
  /** Gives what the peer speaks; undefined until identify has answered. */
  of(peer: string): ReadonlySet<string> | undefined
  onChange(listener: (peer: string) => void): () => void
  stop(): void
}

export function createSpokenProtocols(components: {
  readonly libp2p: Pick<Libp2p, 'addEventListener' | 'removeEventListener' | 'getConnections'>
}): SpokenProtocols {
  const { libp2p } = components
  const spoken = new Map<string, ReadonlySet<string>>()
  const listeners = new Listeners<[peer: string]>()
  const { tell } = listeners
  const onIdentify = ({ detail }: CustomEvent<IdentifyResult>) => {
    const peer = detail.peerId.toString()
    spoken.set(peer, new Set(detail.protocols.slice(0, MAX_PEER_PROTOCOLS)))
    tell(peer)
  }
  const onDisconnect = ({ detail }: CustomEvent<Libp2pPeerId>) => {
    // a peer that came back in the meantime has been identified anew
    if (libp2p.getConnections(detail).length > 0) return
    if (spoken.delete(detail.toString())) tell(detail.toString())
  }
  libp2p.addEventListener('peer:identify', onIdentify)
  libp2p.addEventListener('peer:disconnect', onDisconnect)
  return {
    speaks: (peer, protocol) => spoken.get(peer)?.has(protocol) === true,
    of: (peer) => spoken.get(peer),
    onChange: listeners.add,
    stop() {
      libp2p.removeEventListener('peer:identify', onIdentify)
      libp2p.removeEventListener('peer:disconnect', onDisconnect)
      listeners.clear()
      spoken.clear()
    },
  }
}
