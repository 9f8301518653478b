/** The status of services, as people and programs are shown it. */
import type { PeerId } from '@mesh/core'

/**
 * `checking`: the target has not been asked yet. `announcing`: the entry is on its way into the ledger. `announced`:
 * members can connect. `target down`: withdrawn until the target answers.
 */
export type ExposedState = 'checking' | 'announcing' | 'announced' | 'target down'

export interface ExposedStatus {
  readonly name: string
  /** `HOST:PORT`, `udp:HOST:PORT`, `unix:PATH`, or `program` for one that this process serves. */
  readonly target: string
  readonly state: ExposedState
  /** When the target began or ceased to answer, unix ms; undefined until it was asked. */
  readonly since: number | undefined
  /** The other member that owns the name in `services`, beside which this node offers it too; undefined: nobody else. */
  readonly owner: string | undefined
  readonly openConnections: number
  /** The number of connections since the start. */
  readonly connections: number
  /** The number of bytes that came from members. */
  readonly bytesIn: number
  /** The number of bytes that went to members. */
  readonly bytesOut: number
  readonly lastError: string | undefined
}

/**
 * `waiting for a provider`: nobody who is alive offers the name. `connecting`: somebody does, and is not connected
 * now. `connected`: local connections are taken over at once. `failed`: it does not listen, see `lastError`.
 */
export type ConnectedState = 'waiting for a provider' | 'connecting' | 'connected' | 'failed'

export interface ConnectedStatus {
  readonly name: string
  /** Where it listens here. */
  readonly listen: string
  readonly state: ConnectedState
  /** The provider in use; before the first connection, the one that it would go to. */
  readonly provider: PeerId | undefined
  /** The number of live members that offer the name. */
  readonly providers: number
  /** The path to the provider; undefined when it is not connected. */
  readonly path: 'direct' | 'relayed' | undefined
  /**
   * The transport of the newest connection: `tcp tls` for a TLS connection of its own, else what carries
   * libp2p's connection, as `tcp` or `webrtc`. Undefined: not connected.
   */
  readonly transport: string | undefined
  /** Is the provider a legacy member? */
  readonly isLegacy: boolean
  readonly openConnections: number
  readonly connections: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly lastError: string | undefined
}

export interface ServicesStatus {
  /** The services that this node offers, by name. */
  readonly services: readonly ExposedStatus[]
  /** The services that it connects to, by name. */
  readonly connections: readonly ConnectedStatus[]
  /** Requests of members that were refused, by code, since the start. */
  readonly refusals: Readonly<Record<string, number>>
}

export interface ServicesProblem {
  readonly code: string
  readonly severity: 'warning' | 'error'
  readonly title: string
  readonly hint: string
  /** When it began, unix ms; undefined where that is not known. */
  readonly since?: number
}
