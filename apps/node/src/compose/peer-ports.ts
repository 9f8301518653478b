/**
 * The part that the ports of services and of the VPN have in common: reaching a peer, and knowing how it is
 * reached.
 */
import type { PeerId } from '@mesh/core'
import type { P2pMember } from '@mesh/p2p/node'

/** The host as both packages take it; each adds what it needs besides. */
export function peerPorts(p2p: P2pMember) {
  const addresses = createAddresses(p2p)
  return {
    streams: p2p.streams,
    speaks: (peer: PeerId, protocol: string) => p2p.speaks(peer, protocol),
    connect: (peer: PeerId, signal: AbortSignal) => p2p.connect(peer, signal),
    pathOf(peer: PeerId) {
      const status = p2p.peer(peer)
      if (status?.path === undefined) return undefined
      return { path: status.path, transport: status.transport, rttMs: status.rttMs }
    },
    addressOf: addresses,
    onPath: (listener: (peer: PeerId) => void) => p2p.onPath(listener),
  }
}

/** Keeps what each stream that comes in is asked for: a peer's state takes longer to describe than to admit it. */
function createAddresses(p2p: Pick<P2pMember, 'peer' | 'onPath'>): (peer: PeerId) => string | undefined {
  const known = new Map<PeerId, string>()
  p2p.onPath((peer) => known.delete(peer))
  return (peer) => {
    const address = known.get(peer) ?? p2p.peer(peer)?.remoteIp
    if (address !== undefined) known.set(peer, address)
    return address
  }
}
