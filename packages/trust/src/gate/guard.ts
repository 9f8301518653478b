/** What a peer guard is to the rest of trust: only Node.js has one (`peer-guard.ts`). */
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { ExchangeKind } from '../exchange/exchanges.ts'
import type { TrustLedger, TrustNetwork } from '../ports.ts'

export interface Guard extends ExchangeKind {
  start(): void
  stop(): void
  /** Sends this node's own challenge, where it holds a key. */
  challenge(): void
}

export interface PeerGuardInit {
  readonly self: PeerId
  /** The id of the network. */
  readonly network: string
  readonly intervalMs: number
  readonly autoclean: boolean
  /** How long a heartbeat lasts: who is listed for less may not have sent one yet, in ms. */
  readonly livenessMs: number
  /** True when the challenges of legacy nodes are neither taken nor sent. */
  readonly strict: boolean
}

export interface PeerGuardComponents {
  readonly ledger: TrustLedger
  readonly network: TrustNetwork
  readonly isListed: (peer: string) => boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export type CreateGuard = (init: PeerGuardInit, components: PeerGuardComponents) => Guard
