/**
 * Egress: members reach the Internet through this node, without a VPN or privileges.
 *
 * 1. `egress` in the ledger announces it.
 * 2. A request names a host and a port.
 * 3. The node dials it, if the rules allow.
 * 4. The bytes go both ways.
 */
import { BUCKETS, type Cidr, type Clock, delay, type Logger } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import { LegacyEgress } from '../legacy/serve-legacy-egress.ts'
import { MAX_PEER_CONNECTIONS, WITHDRAW_MS } from '../limits.ts'
import type { Announcer, ServicesLedger, ServicesNetwork } from '../ports.ts'
import { EGRESS_PROTOCOL, LEGACY_EGRESS_PROTOCOL } from '../protocols.ts'
import { spliceToEnd, type Traffic } from '../streams/splice.ts'
import { sharedBy, type Unwritten } from '../streams/unwritten.ts'
import { type Accepted, acceptRequest } from '../wire/accept.ts'
import { decodeEgressRequest, type EgressRequest } from '../wire/messages.ts'
import type { OfferRules } from '../users/offer-rules.ts'
import { createRefusals, type Refusals } from '../wire/refusals.ts'
import { createDestinations, type Destinations, type DestinationsInit } from './destinations.ts'
import { dialDestination } from './dial-destination.ts'

export interface EgressInit {
  /** Served although private or loopback. */
  readonly allow?: readonly Cidr[]
}

export interface EgressComponents extends Pick<DestinationsInit, 'ownAddresses' | 'resolveName'> {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly announce: Announcer
  readonly connections: Scope
  /** Undefined: every member may use egress. */
  readonly rules?: OfferRules | undefined
  /** Bounds what waits for targets and local clients: `createUnwritten`. */
  readonly unwritten: Unwritten
  readonly clock: Clock
  readonly log: Logger
}

export interface EgressStatus {
  readonly openConnections: number
  /** The number of connections since the start. */
  readonly connections: number
  /** The number of bytes that came from members. */
  readonly bytesIn: number
  /** The number of bytes that went to members. */
  readonly bytesOut: number
  /** The refusals by code, since the start. */
  readonly refusals: Readonly<Record<string, number>>
}

export function createEgress(init: EgressInit, components: EgressComponents): Egress {
  return new Egress(init, { ...components, log: components.log.child('egress') })
}

export class Egress {
  readonly #components: EgressComponents
  readonly #destinations: Destinations
  readonly #refusals: Refusals
  readonly #traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  readonly #open = new Set<(reason: Error) => void>()
  #connections = 0
  #stopAnnouncing: (() => void) | undefined

  constructor({ allow = [] }: EgressInit, components: EgressComponents) {
    this.#components = components
    this.#destinations = createDestinations({ allow, ...components })
    this.#refusals = createRefusals(components.log)
  }

  async start(): Promise<void> {
    const { network, ledger, announce, log } = this.#components
    const accepting = { ...this.#components, refusals: this.#refusals }
    const options = { relayed: true, halfClose: true, maxPerPeer: MAX_PEER_CONNECTIONS + 64 } as const
    const init = {
      protocol: 'egress' as const,
      decode: decodeEgressRequest,
      handle: (accepted: Accepted<EgressRequest>) => this.#join(accepted),
    }
    await network.streams.handle(
      EGRESS_PROTOCOL,
      { ...options, from: 'proven', bulk: true },
      (stream) => void acceptRequest(stream, init, accepting),
    )
    const legacy = new LegacyEgress({
      ...accepting,
      dial: (to) =>
        dialDestination({ ...to, destinations: this.#destinations, clock: this.#components.clock }),
      traffic: this.#traffic,
      onConnection: () => this.#connections++,
    })
    await network.streams.handle(
      LEGACY_EGRESS_PROTOCOL,
      { ...options, from: 'heard' },
      (stream) => void legacy.take(stream),
    )
    this.#stopAnnouncing = announce(BUCKETS.egress, ledger.self, () => JSON.stringify('ok'))
    log.info('egress offered')
  }

  /** Withdraws the entry, ends every connection. Takes a second at most. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopAnnouncing === undefined) return
    this.#stopAnnouncing()
    this.#stopAnnouncing = undefined
    for (const end of this.#open) end(new Error('egress was ended'))
    const { ledger, clock } = this.#components
    await Promise.race([ledger.delete(BUCKETS.egress, ledger.self).settled, delay(clock, WITHDRAW_MS)])
  }

  status(): EgressStatus {
    return {
      openConnections: this.#open.size,
      connections: this.#connections,
      ...this.#traffic,
      refusals: this.#refusals.counts(),
    }
  }

  async #join(accepted: Accepted<EgressRequest>): Promise<void> {
    const { request, stream, rest, signal, answerOk } = accepted
    accepted.requireAllowed({ kind: 'egress' })
    const { host, port } = request
    const { clock, network, unwritten } = this.#components
    const asker = network.addressOf(stream.peer) ?? stream.peer
    const to = { host, port, destinations: this.#destinations, asker, isPaused: true }
    const socket = await dialDestination({ ...to, clock, signal })
    answerOk()
    this.#connections++
    const [traffic, open] = [this.#traffic, this.#open]
    const shared = sharedBy(unwritten.served, stream, network)
    await spliceToEnd(socket, stream, { traffic, open, head: rest, shared })
  }
}
