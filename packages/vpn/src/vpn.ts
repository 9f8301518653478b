/** A node's VPN, as the rest of the node sees it; `createVpn` makes one. */
import type { AddressInRange, Cidr, Clock, IpAddress, Logger, PeerId, Random } from '@mesh/core'
import type {
  Engine,
  EngineCounters,
  EngineInit,
  EngineInterface,
  PacketRules,
  Refusal,
  UdpInit,
} from '@mesh/engine'
import type { UdpStatus } from './paths/explain.ts'
import type { VpnLedger, VpnNetwork } from './ports.ts'
import type { RulesStatus } from './rules/rules-status.ts'

export type IpFamily = 'ipv4' | 'ipv6'

/**
 * The faults of an exit's machine that its members are told, by the codes of its own problems. `exit.firewall`: a firewall drops
 * what is forwarded. `exit.no_route`: it has no default route of a family that it forwards. `exit.no_resolver`: it has no
 * DNS server for members whose own is in their local network.
 */
export const EXIT_FAULTS = ['exit.firewall', 'exit.no_route', 'exit.no_resolver'] as const
export type ExitFault = (typeof EXIT_FAULTS)[number]

/** Keeps a text over restarts: an address, or those of others. */
export interface LeaseStore {
  read(): string | undefined
  write(text: string): void
}

/** A memory that remembers nothing: what would be in it ends with the node. */
export const NO_STORE: LeaseStore = { read: () => undefined, write() {} }

export interface VpnInit {
  /** The interface's name, at most 15 characters: `mesh0`. */
  readonly interface: string
  /** The interface's MTU in bytes, from 576 up; default 1280. Below 1280 the interface has no IPv6. */
  readonly mtu?: number
  /** The engine's UDP socket, by which packets go where both ends reach each other; without it all go over streams. */
  readonly udp?: UdpInit
  /**
   * Who seals and carries packets: the engine (the default), or the kernel's own WireGuard, where there are no guests and
   * no tunnels to legacy members.
   */
  readonly wireguard?: 'engine' | 'kernel'
  /** The fixed addresses, at most 16; without any one is leased. The derived IPv6 address is added where the interface takes IPv6. */
  readonly addresses: readonly AddressInRange[]
  /** How to lease, where there are no fixed addresses. Default: from 10.1.0.0/24, remembered nowhere. */
  readonly lease?: LeaseInit
  /** The network's secrets: `otp.crypto.key` and `room`. */
  readonly secret: { readonly key: string; readonly room: string }
  /** The fields of this node's machine record beside its addresses. */
  readonly machine: MachineDescription
  /** Replaces the ledger's `machines` for routing when it is not empty. */
  readonly staticPeers?: readonly StaticPeer[]
  /** The machine that gets packets for addresses that nobody owns. */
  readonly router?: IpAddress
  /** The networks of this host that others may reach through this node. */
  readonly advertiseRoutes?: readonly Cidr[]
  /** Their metrics, where they are not 0: of several routers of one network the one with the lowest metric is used. */
  readonly routeMetrics?: ReadonlyMap<Cidr, number>
  /** True to take networks that any member advertises; default routes are never taken so. */
  readonly acceptRoutes?: boolean
  /** The members whose networks are taken, default routes too. */
  readonly acceptRoutesFrom?: readonly PeerId[]
  /** True to send what members have for the Internet on; `machine.Exit` tells them. */
  readonly advertiseExit?: boolean
  /**
   * The member, by its peer id, address or name, that gets all that leaves for the Internet. Several with commas between
   * them: the first one that is reached. `any`: one of those that offer it.
   */
  readonly exitNode?: string
  /** Where guests find this node, `HOST` or `HOST:PORT`; default: the address that most probably works. */
  readonly guestEndpoint?: string
  /** Where this node answers DNS: guests are told it, if they can ask there. */
  readonly dnsPlaces?: readonly DnsPlace[]
  /** How long a heartbeat keeps its owner's entries, in ms; default 480 s. */
  readonly livenessMs?: number
  /** The rules by which others may begin flows to this node, in force before there is an interface; default: all may. */
  readonly rules?: PacketRules | undefined
}

export interface LeaseInit {
  /** The address is leased in the range of this IPv4 address, which is not preferred itself. */
  readonly range: AddressInRange
  /** The file that keeps the address over restarts; undefined: nothing does. */
  readonly file?: string
  /** The file that keeps over restarts which addresses others had; undefined: nothing does. */
  readonly pastFile?: string
}

/** Where a node answers DNS. */
export interface DnsPlace {
  /** Undefined: every address of the machine. */
  readonly host: IpAddress | undefined
  readonly port: number
}

/** One entry of `--static-peertable`: whose address it is, whatever the ledger says. */
export interface StaticPeer {
  readonly address: IpAddress
  readonly peer: PeerId
}

/** Fields of the machine record (docs/WIRE.md 4.4). OS and Arch have Go's names (`linux`, `amd64`). */
export interface MachineDescription {
  readonly Hostname: string
  readonly OS: string
  readonly Arch: string
  readonly Version: string
  /** The families that this node forwards to the Internet for members; asked for each time that a record is written. */
  readonly Exit?: readonly IpFamily[]
  /** The faults of that on this machine, which members that use it are told; asked for as `Exit` is. */
  readonly ExitFaults?: readonly ExitFault[]
}

export interface VpnComponents {
  readonly ledger: VpnLedger
  readonly network: VpnNetwork
  readonly host: VpnHost
  /** Opens the engine: `openEngine` or `openKernelEngine` of `@mesh/engine`, or one with a memory device. */
  readonly openEngine: (init: EngineInit) => Engine
  /** Opens what `LeaseInit` names; one that cannot be read or written must not throw. */
  readonly openLeaseFile: (path: string) => LeaseStore
  /** Keeps over restarts which peer `exitNode` stood for. */
  readonly exitStore?: LeaseStore
  /** Keeps the routes that were accepted over restarts; without it, who dates a route back comes first after one. */
  readonly routeStore?: LeaseStore
  /** Keeps the guests over restarts; without it they end with the node. */
  readonly guestStore?: GuestStore
  /** Keeps an owned entry in the ledger, as the replicator's `keepAnnounced` does; the returned function stops it. */
  readonly announce: (bucket: string, key: string, valueText: () => string) => () => void
  /** Resolves when this node knows what others hold, as the replicator's `ready` does. */
  readonly initialSync: () => Promise<void>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The text that keeps guests: a secret. Both throw when it cannot be told whether there is one, or it was not written. */
export type GuestStore = LeaseStore

export interface GuestRequest {
  /** A DNS label, which no other guest of this node has. */
  readonly name: string
  /** Where it finds this node, `HOST` or `HOST:PORT`; default: the address that most probably works now. */
  readonly endpoint?: string | undefined
  /** True to have it send all to this node, what is for the Internet too: that goes through the node's exit. */
  readonly fullTunnel?: boolean | undefined
}

/** A guest that was made: its private key stands in the configuration, and nowhere else. */
export interface AddedGuest {
  readonly name: string
  readonly address: IpAddress
  readonly address6: IpAddress | undefined
  readonly publicKey: string
  /** Where it finds this node, `HOST:PORT`. */
  readonly endpoint: string
  /** The text for WireGuard's apps. */
  readonly configuration: string
}

export interface GuestStatus {
  readonly name: string
  readonly address: IpAddress
  readonly address6: IpAddress | undefined
  readonly publicKey: string
  /** When the guest was added, in unix ms. */
  readonly addedAt: number
  /** Its configuration sends all to this node, what is for the Internet too. */
  readonly fullTunnel: boolean
  /** Where its configuration finds this node; undefined: it was added when that was not kept. */
  readonly findsNodeAt: string | undefined
  /** This node is not there any more, and its app has to be told where it is. */
  readonly isLost: boolean
  /** Unix ms of the last handshake since this node started; undefined: none. */
  readonly sessionSince: number | undefined
  /** Where it was heard from last; undefined: not since this node started. */
  readonly endpoint: string | undefined
  readonly counters: EngineCounters
}

/** The VPN asks this of the machine it runs on. */
export interface VpnHost {
  /** The addresses of the host's interfaces with their networks; the VPN's own interface may be among them. */
  networks(): readonly HostNetwork[]
  /**
   * The routes of the host without default routes, as far as the system tells; those of its networks may be among them, and
   * those into one interface are left out.
   */
  routes(except: string): readonly HostRoute[]
  /**
   * The far ends of the connections that this node has now, whoever is there. They are those of its sockets, and not
   * all that peers say of themselves: a peer with a network behind it says that it has an address there.
   */
  remoteAddresses(): readonly IpAddress[]
  /**
   * True when the kernel passes packets on (`net.ipv4.ip_forward`, `net.ipv6.conf.all.forwarding`);
   * undefined: unknown.
   */
  forwards(family: IpFamily): boolean | undefined
  /** True when the kernel gives a new interface IPv6 (`net.ipv6.conf.default.disable_ipv6`). */
  hasIpv6(): boolean
  /** Says what is wrong with what the host does for the VPN: an exit's rules, for example. */
  problems?(): readonly VpnProblem[]
  /** Calls the listener whenever `problems()` has changed; the returned function unsubscribes. */
  watchProblems?(listener: () => void): () => void
}

export interface HostNetwork {
  /** The interface's name: `eth0`. */
  readonly interface: string
  readonly address: AddressInRange
}

export interface HostRoute {
  /** The interface's name: `eth0`; another word where packets go nowhere. */
  readonly interface: string
  readonly range: Cidr
}

export interface Vpn {
  /** The interface as the kernel has it; undefined until it stands, and after it is gone. */
  readonly interface: EngineInterface | undefined
  /**
   * Makes the interface, joins, and announces this machine. Resolves when all addresses are this node's; whoever
   * gives up waiting aborts the signal. When it rejects nothing is left.
   * @throws MeshError `vpn.*`, `engine.*`; the signal's reason
   */
  start(signal?: AbortSignal): Promise<void>
  /** This node's addresses, the derived one included, without those that another member has now. */
  addresses(): readonly AddressInRange[]
  status(): VpnStatus
  /** The problems that a person should know of, each with what to do. */
  problems(): readonly VpnProblem[]
  /**
   * Reaches a peer of the VPN, connecting to it first when need be, and measures.
   * @throws MeshError `vpn.unknown_peer`, `vpn.unreachable`, `vpn.timeout`, `vpn.not_running`, `p2p.unreachable`;
   *   the signal's reason
   */
  probe(peer: PeerId, signal?: AbortSignal): Promise<VpnProbe>
  /** Stock WireGuard devices that this node carries for. */
  guests(): readonly GuestStatus[]
  /**
   * Makes a guest: keys, an address, and the configuration for it.
   * @throws MeshError `vpn.guest_exists`, `vpn.bad_guest_name`, `vpn.too_many_guests`, `vpn.no_udp`, `vpn.no_endpoint`,
   *   `vpn.no_exit`, `vpn.no_guest_address`, `vpn.guest_not_kept`, `vpn.guests_need_engine`, `vpn.not_running`; the signal's reason
   */
  addGuest(request: GuestRequest, signal?: AbortSignal): Promise<AddedGuest>
  /** Cuts a guest off, at once. @throws MeshError `vpn.unknown_guest`, `vpn.guest_not_kept`, `vpn.not_running` */
  removeGuest(name: string): void
  /**
   * Gives what nobody owns to another member from now on, named as `exitNode` is; undefined: to none, and it is
   * dropped. At no moment does the one before get what is for the other.
   */
  setExitNode(wanted: string | undefined): void
  /**
   * Puts other rules in force, at once; undefined: all flows may begin. Flows that are no longer allowed end at their
   * next packet, and nothing else is cut. What this node begins itself needs no rule.
   */
  setRules(rules: PacketRules | undefined): void
  /** Writes this machine's records again: what they say of it, the families of its exit for example, has changed. */
  announceAgain(): void
  /** Calls the listener with each event; the returned function unsubscribes. */
  subscribe(listener: (event: VpnEvent) => void): () => void
  /** Takes the interface down and leaves nothing running. Idempotent. */
  stop(): Promise<void>
}

/** How far a VPN is. `leasing`: the interface stands, and waits for an IPv4 address. `failed`: `problems` says why. */
export type VpnState = 'starting' | 'leasing' | 'running' | 'failed' | 'stopped'

/**
 * How packets reach a peer. `none`: no tunnel was needed so far, or none was found. `wireguard`: sealed. `legacy`:
 * unsealed and one by one, as legacy members expect it.
 */
export type TunnelKind = 'none' | 'wireguard' | 'legacy'

export interface VpnStatus {
  readonly state: VpnState
  readonly interface: EngineInterface | undefined
  readonly addresses: readonly AddressInRange[]
  /** The peers of the table, in the order of their ids. */
  readonly peers: readonly VpnPeerStatus[]
  /** Packets that belong to no peer: those whose destination nobody owns, for example. */
  readonly device: EngineCounters
  readonly routes: {
    readonly advertised: readonly Cidr[]
    /** The same networks, with the other routers that each has. */
    readonly own: readonly OwnRoute[]
    readonly accepted: readonly AcceptedRoute[]
    /** The routers that would take over from those of `accepted`. */
    readonly standby: readonly { readonly range: Cidr; readonly peer: PeerId }[]
  }
  /** The exit that was asked for; undefined: none. */
  readonly exit: VpnExitStatus | undefined
  /** The families that this node forwards for members; undefined: it is no exit. */
  readonly offersExit: readonly IpFamily[] | undefined
  /** Number of ledger entries that are not in the table, by reason. */
  readonly ignored: Readonly<Partial<Record<IgnoredReason, number>>>
  /** How often peers did something against the protocols of the VPN since the start, by code. */
  readonly refusals: Readonly<Record<string, number>>
  /** Counts of what the rules allowed and refused; undefined: there are none. */
  readonly rules?: RulesStatus | undefined
}

/**
 * `up`: it is reached. `searching`: it was not reached since it was chosen or the node started, a minute ago at most.
 * `gone`: it was reached, or should have been by now. While it is not reached packets to the Internet are dropped.
 */
export interface VpnExitStatus {
  /** The names, addresses or ids by which the person named it, or `any`. */
  readonly wanted: string
  /** Undefined until it was found. */
  readonly peer: PeerId | undefined
  readonly hostname: string
  readonly state: 'searching' | 'up' | 'gone'
  /** The families that it forwards. */
  readonly families: readonly IpFamily[]
  /** The faults of its machine that it told. */
  readonly faults: readonly ExitFault[]
  /** The members that would take over from it, the next one first. */
  readonly standby: readonly PeerId[]
}

/** A network behind this node. */
export interface OwnRoute {
  readonly range: Cidr
  readonly metric: number
  /** `standby`: another live member advertises the network with a lower metric. */
  readonly state: 'active' | 'standby'
  /** The other live members that advertise it. */
  readonly others: readonly PeerId[]
}

export interface AcceptedRoute {
  readonly range: Cidr
  readonly peer: PeerId
  /** The route's metric; the lower one is preferred. */
  readonly metric: number
  /** False for a default route: packets for it are passed on, but the host's own routes were left alone. */
  readonly inKernel: boolean
}

export interface VpnPeerStatus {
  readonly peer: PeerId
  /** The name that its machine record says; '' when there is none. */
  readonly hostname: string
  readonly addresses: readonly IpAddress[]
  /** The networks behind it that this node accepted. */
  readonly routes: readonly Cidr[]
  /** The families that it forwards as an exit; empty: it offers none. */
  readonly exit: readonly IpFamily[]
  readonly tunnel: TunnelKind
  /** How the peer is connected now; undefined: it is not. */
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  /** The way over UDP, or why there is none. */
  readonly udp: UdpStatus
  /** The longest packet for the peer, in bytes. */
  readonly mtu: number
  /** Unix ms of the last handshake; undefined while there is no session. */
  readonly sessionSince: number | undefined
  readonly counters: EngineCounters
}

/** The reasons for which an entry of `machines` or `routes` is not in the table. */
export const IGNORED_REASONS = [
  'badKey',
  'badRecord',
  'ownerMismatch',
  'ownerDead',
  'notAdmitted',
  'outsideRange',
  'ownAddress',
  'derivedOfOther',
  'notAccepted',
  'connectedNetwork',
  'hostRoute',
  'vpnRange',
  'cutsPeers',
  'publicRange',
  'partOfOther',
  'lostToOther',
  'tooMany',
] as const
/**
 * Why an entry is not in the table. `badKey`: its key is no address or CIDR in its canonical form, or one that nobody
 * may own (multicast, loopback). `badRecord`: its value is no record with a peer id. `ownerMismatch`: the record names
 * another peer than its owner. `ownerDead`: there was no heartbeat within the liveness window, or
 * the owner is kept out. `notAdmitted`: a static peer is kept out. `outsideRange`: it lies
 * outside of this node's VPN ranges. `ownAddress`: the address is this node's. `derivedOfOther`: it lies in the derived
 * prefix, and is not its owner's address. `notAccepted`: no option accepts it. `connectedNetwork`: it would hide a
 * network of this host. `hostRoute`: the host has a route of its own there, which only named members take over. `vpnRange`: it would hide addresses of the VPN. `cutsPeers`: it holds addresses through which
 * this node reaches peers. `publicRange`: it is part of the Internet, which is taken from named members alone.
 * `partOfOther`: it is part of a network of another peer, which is taken from named members alone. `lostToOther`: another peer has the range already. `tooMany`: it is beyond the table's
 * bound.
 */
export type IgnoredReason = (typeof IGNORED_REASONS)[number]

export interface VpnProblem {
  readonly code: string
  readonly severity: 'warning' | 'error'
  readonly title: string
  readonly hint: string
  /** The time since when it is so, in unix ms, where that is known. */
  readonly since?: number
}

export interface VpnProbe {
  readonly peer: PeerId
  readonly tunnel: TunnelKind
  readonly path: 'direct' | 'relayed'
  readonly transport: string | undefined
  /** The round trip in milliseconds, over the connection that carries the packets. */
  readonly rttMs: number
  readonly mtu: number
  /** The way over UDP, or why there is none, with all addresses that were tried. */
  readonly udp: UdpStatus
}

export type VpnEvent =
  | { readonly type: 'state'; readonly state: VpnState }
  /** The node has other addresses now. */
  | { readonly type: 'addresses'; readonly addresses: readonly AddressInRange[] }
  /** `problems()` says something else now. */
  | { readonly type: 'problems' }
  /** A session with the peer was made or renewed. */
  | { readonly type: 'session'; readonly peer: PeerId }
  /** Packets go another way to the peer, or there is another reason why not over UDP. */
  | { readonly type: 'path'; readonly peer: PeerId; readonly udp: UdpStatus }
  /** The peer has not answered for 90 seconds. */
  | { readonly type: 'silent'; readonly peer: PeerId }
  /** The rules refused these packets since the last such event, a second ago or more; the most frequent come first. */
  | { readonly type: 'refusals'; readonly refusals: readonly Refusal[] }
