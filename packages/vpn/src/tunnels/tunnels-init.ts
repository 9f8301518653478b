/** The tunnels to the peers of a VPN, as the rest of it sees them. */
import type { PeerId } from '@mesh/core'
import type { Tunnel, TunnelPath } from '@mesh/engine'
import type { UdpStatus } from '../paths/explain.ts'
import type { PathsInit } from '../paths/paths-init.ts'
import type { PeerPath, TunnelEngine, VpnNetwork } from '../ports.ts'
import type { OpenStreams } from './packet-streams.ts'
import type { VpnComponents, VpnProbe } from '../vpn.ts'

export interface TunnelsInit {
  readonly self: PeerId
  /** This node's WireGuard key, 32 bytes: the engine's. */
  readonly privateKey: Uint8Array
  /** `otp.crypto.key` of the network. */
  readonly networkKey: string
  /** The interface's MTU in bytes. */
  readonly mtu: number
  /** The addresses of this machine, and those of the VPN, which are no way to a peer over UDP. */
  readonly paths: Omit<PathsInit, 'self'>
}

export interface TunnelsComponents extends Pick<VpnComponents, 'clock' | 'random' | 'log'> {
  readonly network: Omit<VpnNetwork, 'blockRanges'>
  readonly engine: TunnelEngine
  /**
   * Called when `chosenOf` says something else, at most every 20 ms and never from inside a
   * call to `Tunnels`. When it returns, the engine has a table with them: streams that came before their key are read
   * from then on.
   */
  readonly onTunnels: () => void
  /** Called when packets go another way over UDP to a peer, or for another reason not. */
  readonly onUdpPath?: (peer: PeerId) => void
}

export interface TunnelStatus {
  readonly kind: Tunnel['kind']
  /**
   * The path that carries the packets now, and how the peer is connected; undefined when it is not connected.
   */
  readonly path: (TunnelPath & PeerPath) | undefined
  /** The way over UDP, or why there is none. */
  readonly udp: UdpStatus
  /** The longest packet for the peer, in bytes. */
  readonly mtu: number
  /** Unix ms of the last handshake; undefined: no session, or the peer has not answered for 90 s. */
  readonly sessionSince: number | undefined
  /** Which streams are open. */
  readonly streams: OpenStreams & {
    /** How many streams to a legacy member are open. */
    readonly legacy: number
  }
  /** Why the peer was not reached when it was tried last. */
  readonly lastError: Error | undefined
}

export type TunnelProbe = Pick<VpnProbe, 'path' | 'transport' | 'rttMs' | 'mtu'>
