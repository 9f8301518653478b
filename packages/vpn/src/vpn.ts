/** What a node's VPN is to the rest of the node: `createVpn` makes one. */
import type { AddressInRange, Cidr, Clock, IpAddress, Logger, PeerId, Random } from '@mesh/core'
import type { Engine, EngineCounters, EngineInit, EngineInterface } from '@mesh/engine'
import type { LeaseStore } from './addresses/lease.ts'
import type { VpnLedger, VpnNetwork } from './ports.ts'

export interface VpnInit {
  /** The interface's name, at most 15 characters: `mesh0`. */
  readonly interface: string
  /** Bytes; default 1280. */
  readonly mtu?: number
  /** Fixed addresses, at most 16. None: one is leased. The derived IPv6 address is always added. */
  readonly addresses: readonly AddressInRange[]
  /** How to lease; only without fixed addresses. Default: from 10.1.0.0/24, remembered nowhere. */
  readonly lease?: LeaseInit
  /** The network's secrets: `otp.crypto.key` and `room`. */
  readonly secret: { readonly key: string; readonly room: string }
  /** What this node's machine record says beside its addresses. */
  readonly machine: MachineDescription
  /** Replaces the ledger's `machines` for routing when it is not empty. */
  readonly staticPeers?: readonly StaticPeer[]
  /** The machine that gets packets for addresses that nobody owns. */
  readonly router?: IpAddress
  /** Networks of this host that others may reach through this node. */
  readonly advertiseRoutes?: readonly Cidr[]
  /** Take networks that any member advertises; never default routes. */
  readonly acceptRoutes?: boolean
  /** Take networks that these members advertise, default routes too. */
  readonly acceptRoutesFrom?: readonly PeerId[]
  /** The ledger's liveness window; default 480 s. */
  readonly livenessMs?: number
}

export interface LeaseInit {
  /** To lease in the range of this IPv4 address; the address itself is not preferred. */
  readonly range: AddressInRange
  /** The file that keeps the address over restarts; undefined: nothing does. */
  readonly file?: string
  /** The file that keeps over restarts which addresses others had; undefined: nothing does. */
  readonly pastFile?: string
}

/** One entry of `--static-peertable`. */
export interface StaticPeer {
  readonly address: IpAddress
  readonly peer: PeerId
}

/** Fields of the machine record (specification, 2.3). OS and Arch by Go's names (`linux`, `amd64`). */
export interface MachineDescription {
  readonly Hostname: string
  readonly OS: string
  readonly Arch: string
  readonly Version: string
}

export interface VpnComponents {
  readonly ledger: VpnLedger
  readonly network: VpnNetwork
  readonly host: VpnHost
  /** `openEngine` of `@mesh/engine`, or one with a memory device. */
  readonly openEngine: (init: EngineInit) => Engine
  /** Opens what `LeaseInit` names; one that cannot be read or written must not throw. */
  readonly openLeaseFile: (path: string) => LeaseStore
  /** The replicator's `keepAnnounced`: keeps an owned entry in the ledger; the returned function stops. */
  readonly announce: (bucket: string, key: string, valueText: () => string) => () => void
  /** The replicator's `ready`: resolves when this node knows what others hold. */
  readonly arrived: () => Promise<void>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** What the VPN asks of the machine it runs on. */
export interface VpnHost {
  /** The addresses of the host's interfaces with their networks; the VPN's own interface may be among them. */
  networks(): readonly HostNetwork[]
  /**
   * Where the connections that this node has now go to, whoever is there: the far ends of its sockets, not all that
   * peers say of themselves (a peer with a network behind it says that it has an address there).
   */
  remoteAddresses(): readonly IpAddress[]
  /** Does the kernel pass packets on (`net.ipv4.ip_forward`, `net.ipv6.conf.all.forwarding`)? Undefined: unknown. */
  forwards(family: 'ipv4' | 'ipv6'): boolean | undefined
}

export interface HostNetwork {
  /** The interface's name: `eth0`. */
  readonly interface: string
  readonly address: AddressInRange
}

export interface Vpn {
  /** Undefined until the interface stands, and after it is gone. */
  readonly interface: EngineInterface | undefined
  /**
   * Makes the interface, joins, and announces this machine. Resolves when all addresses are this node's; whoever
   * gives up waiting aborts the signal. When it rejects nothing is left.
   * @throws MeshError `vpn.*`, `engine.*`; the signal's reason
   */
  start(signal?: AbortSignal): Promise<void>
  /** This node's own, the derived IPv6 address included; without those that another member has now. */
  addresses(): readonly AddressInRange[]
  status(): VpnStatus
  /** What a person should know of, with what to do. */
  problems(): readonly VpnProblem[]
  /**
   * Reaches a peer of the VPN, connecting to it first when need be, and measures.
   * @throws MeshError `vpn.unknown_peer`, `vpn.unreachable`, `vpn.timeout`, `vpn.not_running`, `p2p.unreachable`;
   *   the signal's reason
   */
  probe(peer: PeerId, signal?: AbortSignal): Promise<VpnProbe>
  /** The returned function unsubscribes. */
  subscribe(listener: (event: VpnEvent) => void): () => void
  /** Takes the interface down and leaves nothing running. Idempotent. */
  stop(): Promise<void>
}

/** `leasing`: the interface stands, and waits for an IPv4 address. `failed`: see `problems`. */
export type VpnState = 'starting' | 'leasing' | 'running' | 'failed' | 'stopped'

/**
 * How packets reach a peer. `none`: no tunnel was needed so far, or none was found. `wireguard`: sealed. `legacy`: unsealed
 * and one by one, as legacy members expect it.
 */
export type TunnelKind = 'none' | 'wireguard' | 'legacy'

export interface VpnStatus {
  readonly state: VpnState
  readonly interface: EngineInterface | undefined
  readonly addresses: readonly AddressInRange[]
  /** By peer id. */
  readonly peers: readonly VpnPeerStatus[]
  /** What belongs to no peer: packets whose destination nobody owns, for example. */
  readonly device: EngineCounters
  readonly routes: {
    readonly advertised: readonly Cidr[]
    readonly accepted: readonly AcceptedRoute[]
  }
  /** Ledger entries that are not in the table, by reason. */
  readonly ignored: Readonly<Partial<Record<IgnoredReason, number>>>
  /** What peers did against the protocols of the VPN, by code, since the start. */
  readonly refusals: Readonly<Record<string, number>>
}

export interface AcceptedRoute {
  readonly range: Cidr
  readonly peer: PeerId
  /** Less is preferred. */
  readonly metric: number
  /** False: packets for it are carried, but the host's own routes were left alone (a default route). */
  readonly inKernel: boolean
}

export interface VpnPeerStatus {
  readonly peer: PeerId
  /** As its machine record says; '' when there is none. */
  readonly hostname: string
  readonly addresses: readonly IpAddress[]
  /** Networks behind it that this node accepted. */
  readonly routes: readonly Cidr[]
  readonly tunnel: TunnelKind
  /** Undefined: not connected now. */
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  /** The longest packet for it, in bytes. */
  readonly mtu: number
  /** Unix ms of the last handshake; undefined without a session. */
  readonly sessionSince: number | undefined
  readonly counters: EngineCounters
}

/** Why an entry of `machines` or `routes` is not in the table. */
export const IGNORED_REASONS = [
  'badKey',
  'badRecord',
  'ownerMismatch',
  'ownerDead',
  'outsideRange',
  'ownAddress',
  'derivedOfOther',
  'notAccepted',
  'connectedNetwork',
  'vpnRange',
  'cutsPeers',
  'lostToOther',
  'tooMany',
] as const
/**
 * `badKey`: no address or CIDR in its canonical form, or one that nobody may own (multicast, loopback). `badRecord`: no record with a peer id. `ownerMismatch`: the record names another
 * peer than its owner. `ownerDead`: no heartbeat within the liveness window. `outsideRange`: outside of this node's
 * VPN ranges. `ownAddress`: this node's. `derivedOfOther`: in the derived prefix, and not its owner's address.
 * `notAccepted`: no option accepts it. `connectedNetwork`: would hide a network of this host. `vpnRange`: would
 * hide addresses of the VPN. `cutsPeers`: holds addresses through which this node reaches peers. `lostToOther`:
 * another peer has the range already. `tooMany`: beyond the table's bound.
 */
export type IgnoredReason = (typeof IGNORED_REASONS)[number]

export interface VpnProblem {
  readonly code: string
  readonly severity: 'warning' | 'error'
  readonly title: string
  readonly hint: string
  /** Unix ms, when known. */
  readonly since?: number
}

export interface VpnProbe {
  readonly peer: PeerId
  readonly tunnel: TunnelKind
  readonly path: 'direct' | 'relayed'
  readonly transport: string | undefined
  /** Milliseconds, over the connection that carries the packets. */
  readonly rttMs: number
  readonly mtu: number
}

export type VpnEvent =
  | { readonly type: 'state'; readonly state: VpnState }
  /** The node's own addresses are others now. */
  | { readonly type: 'addresses'; readonly addresses: readonly AddressInRange[] }
  /** `problems()` says something else now. */
  | { readonly type: 'problems' }
  /** A session with the peer was made or renewed. */
  | { readonly type: 'session'; readonly peer: PeerId }
  /** The peer has not answered for 90 seconds. */
  | { readonly type: 'silent'; readonly peer: PeerId }
