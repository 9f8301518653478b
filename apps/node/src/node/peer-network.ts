/** What the VPN and services alike ask of the host: streams, what a peer speaks, and how it is connected. */
import type { PeerId } from '@mesh/core'
import type { MeshNode } from '@mesh/p2p/node'
import type { PeerPath } from '@mesh/vpn'

export function createPeerNetwork(p2p: MeshNode) {
  return {
    streams: p2p.streams,
    speaks: (peer: PeerId, protocol: string) => p2p.speaks(peer, protocol),
    connect: (peer: PeerId, signal: AbortSignal) => p2p.connect(peer, signal),
    pathOf(peer: PeerId): PeerPath | undefined {
      const { path, transport, rttMs } = p2p.peer(peer) ?? {}
      return path === undefined ? undefined : { path, transport, rttMs }
    },
    onPath: (listener: (peer: PeerId) => void) => p2p.onPath(listener),
  }
}
