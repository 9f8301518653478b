/** A node's DNS, as the rest of the node sees it: `createDns` makes one. */
import type { Cidr, Clock, Logger, Random } from '@mesh/core'
import type { ForwarderStatus } from './forwarder/forwarder.ts'
import type { ForwardServer } from './forwarder/servers.ts'
import type { NamesLedger } from './known-names.ts'
import type { Outcome } from './server/responder.ts'

export interface DnsInit {
  /** The zone of automatic names, with a trailing dot; default `mesh.` */
  readonly zone?: string
  /** Machines count with addresses in these; default: all private ranges. */
  readonly hostRanges?: readonly Cidr[]
  /** Ranges of the VPN: reverse names in them are never passed on, and members are trusted as this machine is. */
  readonly ownRanges?: readonly Cidr[]
  /** The ledger's liveness window; default 480 s. */
  readonly livenessMs?: number
  /** Undefined: nothing is passed on. */
  readonly forward?: ForwardInit | undefined
}

export interface ForwardInit {
  /** The servers, in the order in which they are asked. */
  readonly servers: readonly ForwardServer[]
  /** Answers that are kept; default 1,000. */
  readonly cacheEntries?: number
}

export interface DnsComponents {
  readonly ledger: NamesLedger
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /**
   * The addresses of this machine's interfaces now, with the scope of link-local ones (`fe80::1%eth0`), those that matter
   * most first. UDP listens at each on its own, so that an answer leaves from the address that was asked. Without them the
   * system chooses where it leaves from.
   */
  readonly ownAddresses?: () => readonly string[]
}

/** Where to listen, on UDP and TCP. */
export interface DnsListenAddress {
  /** Undefined: every address of the machine. */
  readonly host: string | undefined
  /** 0: a free one, the same for both. */
  readonly port: number
}

export interface BoundAddress {
  readonly host: string
  readonly port: number
}

export interface DnsStatus {
  readonly zone: string
  /** All that is answered here or nowhere: the zone, and those of reverse names. */
  readonly zones: readonly string[]
  readonly listening: readonly BoundAddress[]
  /** Packets by what became of them. */
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** Automatic names, and patterns of the ledger that count or are too many. */
  readonly names: {
    /** Number of names made from machines and services. */
    readonly automatic: number
    /** Number of patterns in use. */
    readonly patterns: number
    /** Number of patterns beyond the bound. */
    readonly ignoredPatterns: number
  }
  readonly forwarder: ForwarderStatus | undefined
}

export interface DnsProblem {
  readonly code: string
  readonly severity: 'warning' | 'error'
  readonly title: string
  readonly hint: string
  /** Unix ms, when known. */
  readonly since?: number
}
