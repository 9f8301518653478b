/** One node of the simulation of `reach-network.ts`: its machines, and what it sees of the others. */
import type { Machines } from '../src/reach/machines.ts'
import type { PeerAddress } from '../src/reach/peer-state.ts'
import type { Nat } from '@mesh/testkit'

/** A connection between two nodes of the simulation. */
export interface SimConnection {
  readonly id: string
  readonly dialler: SimPeer
  readonly answerer: SimPeer
  readonly direct: boolean
  readonly transport: string
  readonly relay: SimPeer | undefined
  readonly openedAt: number
}

/** The most of each that one node had at a time. */
interface Counts {
  searching: number
  upgrading: number
  speculative: number
  reservations: number
}

/** One node. */
export class SimPeer {
  readonly id: string
  readonly nat: Nat
  readonly isRelay: boolean
  machines: Machines
  isUp = false
  /** What this node sees; the other end may see it later. */
  readonly connections = new Map<string, SimConnection>()
  readonly reservations = new Set<string>()
  /** Where each peer was last said to be. */
  readonly book = new Map<string, readonly PeerAddress[]>()
  /** What each peer said last, in short. */
  readonly heard = new Map<string, string>()
  /** Peers that must be connected: asked for again and again until they are. */
  readonly wanted = new Set<string>()
  readonly abandoned = new Set<string>()
  wakeAt = Number.POSITIVE_INFINITY
  most: Counts = { searching: 0, upgrading: 0, speculative: 0, reservations: 0 }

  constructor(init: {
    readonly id: string
    readonly nat: Nat
    readonly isRelay: boolean
    readonly machines: Machines
  }) {
    this.id = init.id
    this.nat = init.nat
    this.isRelay = init.isRelay
    this.machines = init.machines
  }

  to(peer: string): readonly SimConnection[] {
    return [...this.connections.values()].filter(
      ({ dialler, answerer }) => dialler.id === peer || answerer.id === peer,
    )
  }
}
