/** The API needs these ports from the rest of a node; `apps/node` plugs the parts in. */
import type {
  AdmissionView,
  DnsServerView,
  EventData,
  NameResolutionView,
  ReachabilityView,
  RulesCheckView,
  RulesTestView,
  RulesView,
  RulesWhoView,
  SignedRulesView,
} from '@mesh/api-contract'
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Ledger, Leases } from '@mesh/ledger'
import type { DebugPort } from './debug-port.ts'
import type { DoctorPort, LogPort, SettingsPort } from './operation-ports.ts'
import type { PathReport } from './path-report.ts'
import type { ApiToken } from './auth/token-list.ts'

/** Bytes and rates of what went over the network. */
export interface TrafficStats {
  /** Bytes received since the start. */
  readonly totalIn: number
  /** Bytes sent since the start. */
  readonly totalOut: number
  /** Bytes received per second, over the last 10 s. */
  readonly rateIn: number
  /** Bytes sent per second, over the last 10 s. */
  readonly rateOut: number
}

export interface TrafficPort {
  total(): TrafficStats
  byProtocol(): ReadonlyMap<string, TrafficStats>
  /** Gives the traffic with each peer, by base58 peer id. */
  byPeer(): ReadonlyMap<string, TrafficStats>
}

/** The node's knowledge of one peer. */
export interface PeerState {
  readonly id: string
  readonly connected: boolean
  readonly member: boolean
  readonly path: 'direct' | 'relayed' | undefined
  /** The relay that passes packets on. */
  readonly relay?: string | undefined
  /** The ways of discovery that found it; `incoming`: it dialled this node. */
  readonly foundBy?: readonly string[] | undefined
  readonly transport: string | undefined
  readonly addresses: readonly string[]
  readonly rttMs: number | undefined
  /** The time at which the peer was last seen, in unix ms. */
  readonly lastSeen: number | undefined
  readonly lastError: string | undefined
  /**
   * One line on reaching the peer: what is known of it, what was tried and what comes next, in one line of at
   * most 240 characters.
   */
  readonly reach?: string | undefined
  readonly agent: string | undefined
  /** The name that the peer gives itself. */
  readonly name?: string | undefined
}

export type NetworkEvent =
  | { readonly type: 'peer.connected'; readonly peer: string; readonly path: 'direct' | 'relayed' }
  | { readonly type: 'peer.disconnected'; readonly peer: string }
  /** Already bounded in number by who tells it. */
  | {
      readonly type: 'refused'
      readonly code: string
      readonly peer: string | undefined
      readonly protocol: string | undefined
    }

/** How a peer was reached just now. */
export interface PeerProbe {
  readonly path: 'direct' | 'relayed'
  readonly transport: string | undefined
  readonly rttMs: number
}

/** The node's view of its peers. */
export interface NetworkPort {
  /** Other members on the gossip topic now. */
  members(): readonly string[]
  /** All of the peerstore, this node excluded. */
  peers(): readonly PeerState[]
  /**
   * Connects where need be, and measures a round trip.
   * @throws MeshError saying what kept it from being reached; the signal's reason
   */
  probe(peer: PeerId, signal: AbortSignal): Promise<PeerProbe>
  /**
   * Learns of a peer from its id, or from an address that ends with it, and gives the id.
   * @throws MeshError saying why this is no address of a peer
   */
  addPeer(address: string): PeerId
  /** Closes the connections to a peer and forgets its addresses. False when the peer was not known. */
  forget(peer: PeerId): Promise<boolean>
  /** Gives this node's own report, then one for each connected member; old ones are asked for in the background. */
  pathReports(): readonly PathReport[]
  /** Undefined without a bandwidth reporter: `/api/metrics` is 404 then. */
  readonly traffic: TrafficPort | undefined
  subscribe(listener: (event: NetworkEvent) => void): () => void
}

/** Names of this network; also where no server listens. */
export interface DnsPort {
  /**
   * Who would answer, and why not somebody else.
   *
   * @param type number of the record type, 1 for A
   * @throws MeshError `dns.bad_question`, `dns.busy`
   */
  explain(name: string, type: number): Promise<NameResolutionView>
  /** Undefined: no DNS server runs. */
  status(): DnsServerView | undefined
}

/** A problem that a person should know of, with what to do. */
export interface HealthProblem {
  readonly code: string
  readonly severity: 'warning' | 'error'
  readonly title: string
  readonly hint: string
  /** Unix ms, when known. */
  readonly since?: number
}

export interface HealthPort {
  problems(): readonly HealthProblem[]
  /** Has the node joined its network, as far as it can alone? */
  ready(): boolean
}

/** One family of the Prometheus text format. */
export interface Metric {
  /** Counters end in `_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly samples: readonly {
    readonly labels?: Readonly<Record<string, string>>
    /**
     * The measured number, in the unit that `name` ends with (`_bytes`, `_seconds`), else a number of what it
     * names.
     */
    readonly value: number | bigint
  }[]
}

/** One file of the embedded web page. */
export interface Asset {
  readonly bytes: Uint8Array
  /** The media type, as `Content-Type` has it. */
  readonly type: string
  /** How `bytes` are compressed; undone for clients that do not take it. */
  readonly encoding?: 'br' | 'gzip'
}

export interface AssetsPort {
  /** Gives the asset at a path from the root: `/index.html`, `/assets/main-1a2b.js`. */
  get(path: string): Asset | undefined
}

/** The page by which browser tabs join, and where they connect. */
export interface BrowserMembersPort {
  readonly assets: AssetsPort
  /**
   * Gives the WebSocket addresses of this node for a page that was asked for under a host name, the best first. Each ends
   * with the id of this node; empty until the host listens.
   * @param host without a port, IPv6 without brackets
   */
  nodes(host: string): readonly WebSocketAddress[]
}

/** One address at which tabs connect. */
export interface WebSocketAddress {
  /** The multiaddr, such as `/ip4/192.0.2.7/tcp/4002/ws/p2p/ID`. */
  readonly address: string
  /** The origin for the content security policy of the page, such as `ws://192.0.2.7:4002`. */
  readonly origin: string
}

export interface VersionPort {
  /** The version, as `mesh --version` prints it. */
  readonly version: string
  /** Lists the ids of the protocols that the node speaks. */
  protocols(): readonly string[]
}

/** The peer gate of this node. */
interface GatePort {
  readonly enabled: boolean
  set(enabled: boolean): void
}

/** Who may use the network. Writes throw MeshErrors with codes of the contract. */
export interface AccessPort {
  /** Undefined on a node without a peer gate. */
  gate(): GatePort | undefined
  /** Undefined in a network without administrators. */
  admission(): Omit<AdmissionView, 'Peerguard' | 'Gate'> | undefined
  /** @param init.forMs how long the peer is a member, in ms; undefined: as its invite says, else for good */
  setMember(peer: PeerId, state: 'admitted' | 'revoked', init: { readonly forMs?: number | undefined }): void
  setApproval(isRequired: boolean): void
  invite(init: {
    readonly lifeMs?: number
    readonly label: string
    /** How long the peer that uses it is a member, in ms; undefined: for good. */
    readonly memberForMs?: number | undefined
  }): {
    readonly code: string
    /** The code as a link. */
    readonly link: string
    readonly invite: string
    /** The time, in unix ms. */
    readonly expiresAt: number
  }
  cancelInvite(invite: PeerId): void
  /** Calls the listener after who may use the network may have changed; the returned function ends it. */
  subscribe(listener: () => void): () => void
}

interface RulesSetOptions {
  /** True to sign a policy by which this node may begin nothing any more. */
  readonly force: boolean
  /** The serial number of the policy that must be in force now; 0 for none. */
  readonly serial?: number
}

/** Who may reach what. Throws MeshErrors with codes of the contract. */
export interface RulesPort {
  view(): Promise<RulesView>
  /** The JSON Schema of policies. */
  schema(): Promise<Record<string, unknown>>
  test(question: { readonly from: string; readonly to: string; readonly on: string }): RulesTestView
  who(to: string): RulesWhoView
  check(text: string): Promise<RulesCheckView>
  /** Signs a policy, which is in force then. */
  set(text: string, options: RulesSetOptions): Promise<SignedRulesView>
  /** Calls the listener after something was refused; the returned function ends it. */
  onRefused(listener: (refused: EventData<'rules.refused'>) => void): () => void
}

/** The tokens that the API takes; they may change while the node runs. */
export interface TokensPort {
  current(): readonly ApiToken[]
}

/** Who this node is, beside its id. */
export interface NodePort {
  /** The name that people call the node by. */
  readonly name: string
  /** The id of the network, which tells nothing of its secrets. */
  readonly networkId: string
  readonly instance: string
  /** Does it carry packets? */
  readonly hasVpn: boolean
}

/** The leases of this node. */
export type LeasesPort = Pick<Leases, 'take' | 'held' | 'status' | 'list'>

export interface ApiServerComponents {
  readonly ledger: Ledger
  /** The leases that the API takes and lists; undefined: it has none. */
  readonly leases?: LeasesPort | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly version: VersionPort
  /** `/api/node` is empty of what this says when it is left out. */
  readonly node?: NodePort
  readonly health: HealthPort
  /** May come later with `attachNetwork`; without it the node is alone and counts no traffic. */
  readonly network?: NetworkPort
  /** Families beside those of the ledger, the traffic and the API itself. */
  readonly metrics?: () => readonly Metric[]
  readonly assets?: AssetsPort
  /** The page for browser members; without it nothing is served at `/join`. */
  readonly browserMembers?: BrowserMembersPort
  /** The resolver; without it `/api/dns/resolve` answers 503. */
  readonly dns?: DnsPort
  /** Asked for on all listeners but the control socket; without it, who reaches a listener is let in. */
  readonly tokens?: TokensPort
  /** The port of trust; without it the node has no peer gate, and the network no administrators. */
  readonly access?: AccessPort
  /** Access rules; without it everything is allowed, and `/api/rules` checks and signs nothing. */
  readonly rules?: RulesPort
  /** Profiles of the process; without it nothing is served at `/debug/pprof/` but the web page. */
  readonly debug?: DebugPort
  /** The log; without it its levels cannot be changed, and none of its lines are served. */
  readonly log?: LogPort
  /** The examination of machine and node; without it `/api/doctor` answers 503. */
  readonly doctor?: DoctorPort
  /** The settings in force; without it `/api/node/settings` is empty. */
  readonly settings?: SettingsPort
  /** Undefined, and answers undefined, until the host listens. */
  readonly reachability?: () => ReachabilityView | undefined
}
