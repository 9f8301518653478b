/** The ways to peers over UDP, as the tunnels see them; `createPaths` makes them. */
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Endpoint, Engine } from '@mesh/engine'
import type { PathsMessage } from '../wire/control-message.ts'
import type { UdpStatus } from './explain.ts'
import type { UdpPath } from './path-state.ts'
import type { Candidate } from '../wire/control-message.ts'
import type { WatchedCandidatesInit } from './watched-candidates.ts'

export interface PathsInit extends WatchedCandidatesInit {
  readonly self: PeerId
}

export interface PathsComponents {
  readonly engine: Pick<
    Engine,
    | 'sendDatagram'
    | 'expectProbes'
    | 'forgetProbes'
    | 'takeDatagrams'
    | 'activePeers'
    | 'udpPort'
    | 'openSocket'
    | 'closeSocket'
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
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The peer at the other end of a control channel, as that tells of it. */
export interface ControlEnds {
  /** The longest packet that both interfaces take, in bytes. */
  readonly mtu: number
  /** The group under which bounds by address count the peer; those without one count together. */
  readonly address: string | undefined
}

export interface Paths {
  /** A control channel with a peer of the table stands. */
  open(peer: PeerId, over: ControlEnds): void
  /** The peer told how its socket can be reached. */
  told(peer: PeerId, message: PathsMessage): void
  /** The peer is no peer of the table any more, or has another key. */
  forget(peer: PeerId): void
  /** The engine's event `datagrams`. */
  datagrams(): void
  /** There is another engine, with another socket. */
  restart(): void
  pathOf(peer: PeerId): UdpPath | undefined
  /** Where this node's socket may be reached, as it is now. */
  candidates(): readonly Candidate[]
  status(peer: PeerId): UdpStatus
  /**
   * Measures the round trip on the path in use, in ms; undefined: there is none, or it broke meanwhile. All other addresses
   * of the peer are probed, too, for `status`: what does not answer within a second is told as such.
   */
  measure(peer: PeerId, signal: AbortSignal): Promise<number | undefined>
  stop(): void
}
