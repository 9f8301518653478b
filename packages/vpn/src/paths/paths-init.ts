/** The ways to peers over UDP, as the tunnels see them. */
import type { PeerId } from '@mesh/core'
import type { Endpoint } from '@mesh/engine'
import type { TunnelEngine } from '../ports.ts'
import type { WatchedCandidatesInit } from './watched-candidates.ts'
import type { VpnComponents } from '../vpn.ts'

export interface PathsInit extends WatchedCandidatesInit {
  readonly self: PeerId
}

export interface PathsComponents extends Pick<VpnComponents, 'clock' | 'random' | 'log'> {
  readonly engine: Omit<
    TunnelEngine,
    'publicKey' | 'take' | 'inject' | 'injectPackets' | 'restart' | 'retryHandshake'
  >
  /** Sends a control message. False: no channel stands. */
  readonly tell: (peer: PeerId, message: Uint8Array) => boolean
  /** Has routers lead a port of theirs to this UDP port, and tells where; the returned function ends it. */
  readonly mapPort?: (port: number, onMapped: (mapped: readonly Endpoint[]) => void) => () => void
  /** Called when `pathOf` says something else. */
  readonly onPath: (peer: PeerId) => void
  /** Called when the peer sees a socket of this node elsewhere than before: the NAT has another mapping for it. */
  readonly onRemapped?: (peer: PeerId) => void
  /** Called when a search found nothing, for another reason than before. */
  readonly onReason?: (peer: PeerId) => void
}

/** The peer at the other end of a control channel, as that tells of it. */
export interface ControlEnds {
  /** The longest packet that both interfaces take, in bytes. */
  readonly mtu: number
  /** The group under which bounds by address count the peer; those without one count together. */
  readonly address: string | undefined
}
