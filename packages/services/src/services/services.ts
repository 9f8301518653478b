/** The services, as the rest of a node sees them. */
import type { Clock, Logger, Random } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import type { Announcer, ServicesLedger, ServicesNetwork } from '../ports.ts'
import type { OfferRules } from '../users/offer-rules.ts'
import type { OwnUser } from '../users/own-user.ts'
import type { Unwritten } from '../streams/unwritten.ts'
import type { ConnectedStatus, ExposedStatus } from './status.ts'
import type { ProgramTarget } from './target.ts'

/** A name and an address in text, as in `web=127.0.0.1:8080`. */
export interface NamedAddress {
  readonly name: string
  /** `HOST:PORT`, `:PORT`, `udp:HOST:PORT`, `unix:PATH`. */
  readonly address: string
}

/** A service that this process serves itself. */
export interface ServedHere extends Omit<ProgramTarget, 'type'> {
  readonly name: string
}

export interface ServicesInit {
  /** The services that this node offers from the start. */
  readonly services?: readonly NamedAddress[]
  /** The services that this node connects to from the start. */
  readonly connections?: readonly NamedAddress[]
  /**
   * True, as by default: a name with several providers stays with one as long as that works. False: each new connection
   * goes to the provider with the fewest connections, of those that are equally near.
   */
  readonly isSticky?: boolean
}

export interface ServicesComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly announce: Announcer
  readonly user: OwnUser
  /** Shared with egress, so that bounds count all that a peer opens. */
  readonly connections: Scope
  /** Undefined: every member may use every service. */
  readonly rules?: OfferRules | undefined
  /** Bounds what waits for targets and local clients: `createUnwritten`. */
  readonly unwritten: Unwritten
  /**
   * The addresses of this machine now, link-local ones with their scope. A UDP connection at `0.0.0.0` or `::` listens
   * at each on its own, so that an answer leaves from the address that was asked.
   */
  readonly ownAddresses: () => readonly string[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The status of one of them has changed; `undefined` says that it was removed. */
export type ServicesEvent =
  | { readonly type: 'service'; readonly name: string; readonly status: ExposedStatus | undefined }
  | { readonly type: 'connection'; readonly name: string; readonly status: ConnectedStatus | undefined }
