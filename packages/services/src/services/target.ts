/** A service of this node is served by a program at an address, or by this process itself. */
import type { Duplex } from 'node:stream'
import type { PeerId } from '@mesh/core'
import { type Endpoint, formatEndpoint, kindOf, type ServiceKind } from '../streams/endpoint.ts'
import type { RuledOffer } from '../users/offer-rules.ts'

/** Takes a connection of a member. The handler owns it: it reads, writes and ends it like a socket. */
export type AcceptConnection = (connection: Duplex, peer: PeerId) => void

/** This process serves the service, without a port or a socket. */
export interface ProgramTarget {
  readonly type: 'program'
  readonly accept: AcceptConnection
  /** False: when the member has sent everything, this side ends, too. */
  readonly allowHalfOpen: boolean
}

export type ServiceTarget = Endpoint | ProgramTarget

/** Gives the address, or `program`. */
export function formatTarget(target: ServiceTarget): string {
  return target.type === 'program' ? 'program' : formatEndpoint(target)
}

/** How a service with this target is carried. */
export function kindOfTarget(target: ServiceTarget): ServiceKind {
  return target.type === 'program' ? 'stream' : kindOf(target)
}

/** Builds the question to access rules for a service with this target. */
export function offerOfService(name: string, target: ServiceTarget): RuledOffer {
  const isUdp = target.type === 'udp'
  const port = isUdp || target.type === 'tcp' ? target.port : undefined
  return { kind: 'service', name, protocol: isUdp ? 'udp' : 'tcp', port }
}
