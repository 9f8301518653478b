/**
 * The part that the ports of services and of the VPN have in common: reaching a peer, and knowing how it is
 * reached.
 */
import type { PeerId } from '@mesh/core'
import type { P2pMember } from '@mesh/p2p/node'

/** The host as both packages take it; each adds what it needs besides. */
export function peerPorts(p2p: P2pMember) {
  return {
    streams: p2p.streams,
    speaks: (peer: PeerId, protocol: string) => p2p.speaks(peer, protocol),
    connect: (peer: PeerId, signal: AbortSignal) => p2p.connect(peer, signal),
    pathOf(peer: PeerId) {
      const status = p2p.peer(peer)
      if (status?.path === undefined) return undefined
      return { path: status.path, transport: status.transport, rttMs: status.rttMs }
    },
    addressOf: (peer: PeerId) => p2p.peer(peer)?.remoteIp,
    onPath: (listener: (peer: PeerId) => void) => p2p.onPath(listener),
  }
}
