/** What the API needs from the rest of a node; `apps/node` plugs the parts in. */
import type { Clock, Logger, Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'

/** Bytes, and bytes per second over 10 s. */
export interface TrafficStats {
  readonly totalIn: number
  readonly totalOut: number
  readonly rateIn: number
  readonly rateOut: number
}

export interface TrafficPort {
  total(): TrafficStats
  byProtocol(): ReadonlyMap<string, TrafficStats>
  /** By base58 peer id. */
  byPeer(): ReadonlyMap<string, TrafficStats>
}

/** What the node knows of one peer. */
export interface PeerState {
  readonly id: string
  readonly connected: boolean
  readonly member: boolean
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  readonly addresses: readonly string[]
  readonly rttMs: number | undefined
  /** Unix ms. */
  readonly lastSeen: number | undefined
  readonly lastError: string | undefined
  readonly agent: string | undefined
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

/** The node's view of its peers. */
export interface NetworkPort {
  /** Other members on the gossip topic now. */
  members(): readonly string[]
  /** All of the peerstore, this node excluded. */
  peers(): readonly PeerState[]
  /** Undefined without a bandwidth reporter: `/api/metrics` is 404 then. */
  readonly traffic: TrafficPort | undefined
  subscribe(listener: (event: NetworkEvent) => void): () => void
}

/** Something that a person should know of, with what to do. */
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
    readonly value: number | bigint
  }[]
}

/** One file of the embedded web page. */
export interface Asset {
  readonly bytes: Uint8Array
  /** Content-Type. */
  readonly type: string
  /** How `bytes` are compressed; undone for clients that do not take it. */
  readonly encoding?: 'br' | 'gzip'
}

export interface AssetsPort {
  /** By path from the root: `/index.html`, `/assets/main-1a2b.js`. */
  get(path: string): Asset | undefined
}

export interface VersionPort {
  /** As `mesh --version` prints it. */
  readonly version: string
  /** Protocol ids spoken. */
  protocols(): readonly string[]
}

export interface ApiServerComponents {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly version: VersionPort
  readonly health: HealthPort
  /** May come later with `attachNetwork`; without it the node is alone and counts no traffic. */
  readonly network?: NetworkPort
  /** Families beside those of the ledger, the traffic and the API itself. */
  readonly metrics?: () => readonly Metric[]
  readonly assets?: AssetsPort
}
