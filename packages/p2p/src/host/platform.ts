/** The differences between a machine, a browser and a test: transports, and the parts that join later. */
import type { SealCipher } from '@mesh/network'
import type { Libp2pOptions } from 'libp2p'
import type { AddressRules } from '../addresses/address-rules.ts'
import type { CreateBulk } from '../bulk/bulk.ts'
import type { DiscoveryMethods } from '../discovery/discovery-methods.ts'
import type { Find } from '../discovery/find.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import type { Membership } from '../membership/membership.ts'
import type { UdpPortMappings } from '@mesh/port-mapping'
import type { P2pComponents } from '../p2p-components.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { Dials } from '../reach/dials.ts'
import type { Reach } from '../reach/reach.ts'
import type { DialFor } from '../addresses/dials-for-others.ts'

export interface Platform {
  readonly transports: NonNullable<Libp2pOptions['transports']>
  /** Where the transports above listen, as multiaddrs. */
  readonly listen: readonly string[]
  /** True for a member that dials its bootstrap peers alone: what it hears of others' addresses is of no use. */
  readonly isLeaf?: boolean
  /** Makes streams over TLS connections of their own; a platform without it has none. */
  readonly bulk?: CreateBulk
  /** The seal's cipher; the one that runs everywhere by default. */
  readonly cipher?: SealCipher
  /** Keeps a UDP port mapped at routers, and tells where; a platform without it asks none. */
  readonly mapUdpPort?: UdpPortMappings['map']
  /** Adds what may come later; what fails is told to its discovery method. Gives the function that stops what it added. */
  join(context: PlatformContext): Promise<() => Promise<void>>
}

/** The context that the parts which join a running host may use. */
export interface PlatformContext extends P2pComponents {
  readonly host: MeshHost
  readonly membership: Membership
  readonly spoken: SpokenProtocols
  readonly book: PeerBook
  readonly reach: Reach
  readonly dialOne: Dials['dialOne']
  readonly dialFound: Dials['dialFound']
  readonly dialFor: DialFor
  readonly rules: AddressRules
  readonly methods: DiscoveryMethods
  readonly bootstrap: readonly Find[]
  /** The UDP ports of the members that answer STUN, by peer. */
  readonly stunPorts: ReadonlyMap<string, number>
  /** Takes what ends the reservation of a peer on this node. */
  setEndReservation(end: (peer: string) => void): void
  /** Tells members that this node answers STUN. */
  setStunPort(port: number): void
}
