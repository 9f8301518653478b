/** The server asks through this port for the VPN. */
import type { PeerId } from '@mesh/core'

/** Sums, and what was dropped by reason. */
export interface VpnCounters {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
  readonly drops: Readonly<Record<string, number | undefined>>
}

interface UdpEndpoint {
  readonly address: string
  readonly port: number
}

/** The way over UDP to a peer, or why there is none. */
export interface VpnUdp {
  readonly state: 'direct' | 'suspect' | 'none'
  readonly reason:
    | 'off'
    | 'unsupported'
    | 'searching'
    | 'blocked'
    | 'one-way'
    | 'both-vary'
    | 'one-varies'
    | 'same-nat'
    | 'too-small'
    | 'too-slow'
    | 'idle'
    | undefined
  readonly endpoint: UdpEndpoint | undefined
  readonly rttMs: number | undefined
  readonly candidates: readonly {
    readonly endpoint: UdpEndpoint
    readonly kind: 'own' | 'mapped' | 'seen' | 'heard'
    readonly isAnswered: boolean
    readonly isHeard: boolean
    readonly rttMs: number | undefined
    /** The longest packet that was proven to pass, in bytes; 0: none. */
    readonly mtu: number
  }[]
}

export interface VpnPeerState {
  readonly peer: string
  readonly hostname: string
  readonly addresses: readonly string[]
  readonly routes: readonly string[]
  /** The families that it forwards as an exit; empty: it offers none. */
  readonly exit: readonly ('ipv4' | 'ipv6')[]
  readonly way: 'sealed' | 'plain' | 'unknown'
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  readonly udp: VpnUdp
  readonly mtu: number
  /** The time at which the session began, in unix ms. */
  readonly sessionSince: number | undefined
  readonly counters: VpnCounters
}

export interface VpnStatus {
  readonly state: 'starting' | 'leasing' | 'running' | 'failed' | 'stopped'
  readonly interface: { readonly name: string; readonly mtu: number; readonly offload: boolean } | undefined
  readonly addresses: readonly { readonly address: string; readonly prefixLength: number }[]
  readonly peers: readonly VpnPeerState[]
  /** Counts of packets that belong to no peer. */
  readonly device: VpnCounters
  readonly routes: {
    readonly advertised: readonly string[]
    readonly accepted: readonly {
      readonly range: string
      readonly peer: string
      readonly metric: number
      readonly inKernel: boolean
    }[]
  }
  readonly exit:
    | {
        readonly wanted: string
        readonly peer: string | undefined
        readonly hostname: string
        readonly state: 'searching' | 'up' | 'gone'
        readonly families: readonly ('ipv4' | 'ipv6')[]
      }
    | undefined
  readonly offersExit: readonly ('ipv4' | 'ipv6')[] | undefined
  readonly ignored: Readonly<Record<string, number | undefined>>
  readonly refusals: Readonly<Record<string, number>>
}

export interface VpnProbe {
  readonly way: 'sealed' | 'plain' | 'unknown'
  readonly path: 'direct' | 'relayed'
  readonly transport: string | undefined
  readonly rttMs: number
  readonly mtu: number
  readonly udp: VpnUdp
}

export interface VpnGuest {
  readonly name: string
  readonly address: string
  readonly address6?: string | undefined
  readonly publicKey: string
  /** When the guest was added, in unix ms. */
  readonly addedAt: number
  /** It sends all to this node, what is for the Internet too. */
  readonly fullTunnel: boolean
  /** Where its configuration finds this node; undefined: that is not known. */
  readonly findsNodeAt: string | undefined
  /** This node is not there any more. */
  readonly isLost: boolean
  /** Unix ms of the last handshake. */
  readonly sessionSince: number | undefined
  readonly endpoint: string | undefined
  readonly counters: VpnCounters
}

/** The answer that creates a guest; the configuration holds its private key. */
interface AddedVpnGuest {
  readonly name: string
  readonly address: string
  readonly address6?: string | undefined
  readonly publicKey: string
  readonly endpoint: string
  readonly configuration: string
}

/** The network interface and who is reached through it. */
export interface VpnPort {
  status(): VpnStatus
  guests(): readonly VpnGuest[]
  /** @throws MeshError with a code of the catalogue */
  addGuest(request: {
    readonly name: string
    readonly endpoint: string | undefined
    readonly fullTunnel: boolean | undefined
  }): Promise<AddedVpnGuest>
  /** @throws MeshError with a code of the catalogue */
  removeGuest(name: string): void
  /**
   * Leads all that leaves for the Internet through another member from now on, or through none; kept over restarts.
   * @throws MeshError with a code of the catalogue
   */
  setExitNode(wanted: string | undefined): void
  /** Calls the listener when packets go another way to a peer, or for another reason not over UDP. */
  onPath(listener: (peer: string, udp: VpnUdp) => void): () => void
  /** @throws MeshError `vpn.unknown_peer`, `vpn.not_running`, or what kept it from being reached; the signal's reason */
  probe(peer: PeerId, signal: AbortSignal): Promise<VpnProbe>
}
