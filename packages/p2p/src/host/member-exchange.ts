/** Members telling each other of members, and of their STUN servers and names (`discovery/peer-exchange.ts`). */
import type { DiscoveryMethod } from '../discovery/discovery-methods.ts'
import type { Find } from '../discovery/find.ts'
import { type PeerExchange, startPeerExchange } from '../discovery/peer-exchange.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { MAX_KNOWN_PEERS } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { Channels } from '../p2p-node.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { PEERS_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'

interface MemberExchangeInit {
  readonly host: MeshHost
  readonly channels: Channels
  readonly membership: Membership
  readonly book: PeerBook
  readonly refusals: Refusals
  readonly name: string | undefined
  /** Reports the members that others told of; undefined when nothing is passed on or taken. */
  readonly method: DiscoveryMethod | undefined
  readonly found: (method: DiscoveryMethod, find: Find) => void
}

/** The exchange, or nothing in its place, with what it learned of STUN servers. */
export class MemberExchange {
  /** The UDP ports of the members that answer STUN, by peer. */
  readonly stunPorts = new Map<string, number>()
  #ownStunPort = 0
  #exchange: PeerExchange | undefined

  async start(init: MemberExchangeInit, components: P2pComponents): Promise<void> {
    const { host, channels, membership, book, refusals, method, name } = init
    if (method === undefined) return
    this.#exchange = await startPeerExchange(
      {
        host,
        channels,
        isMember: (peer) => membership.isMember(peer),
        onMember: (listener) => membership.onMember(listener),
        stunPort: () => this.#ownStunPort,
        name,
        onName: (peer, told) => book.noteName(peer, told),
        found: (find) => init.found(method, find),
        onStunPort: (peer, port) => this.#noteStunPort(peer, port),
        onRefused: (code, peer) => refusals.refuse(code, { peer, protocol: PEERS_PROTOCOL }),
      },
      components,
    )
  }

  /** Tells members that this node answers STUN on a port. */
  setStunPort(port: number): void {
    this.#ownStunPort = port
    this.#exchange?.announceSelf()
  }

  stop(): void {
    this.#exchange?.stop()
  }

  #noteStunPort(peer: string, port: number): void {
    if (port === 0) this.stunPorts.delete(peer)
    else if (this.stunPorts.size < MAX_KNOWN_PEERS) this.stunPorts.set(peer, port)
  }
}
