/**
 * Looks at the connection to a peer while the path over UDP is in doubt, as what ended the one may have ended both; when this
 * node's NAT has another mapping; and while packets go by the stream and nothing comes.
 */
import type { PeerId } from '@mesh/core'
import type { UdpPath } from '../paths/path-state.ts'
import type { VpnNetwork } from '../ports.ts'

interface ConnectionDoubtsComponents {
  readonly pathOf: (peer: PeerId) => UdpPath | undefined
  readonly network: Pick<VpnNetwork, 'endDead'>
}

export class ConnectionDoubts {
  readonly #components: ConnectionDoubtsComponents
  /** The peers whose path is in doubt, until it is sure again. */
  readonly #doubted = new Map<PeerId, AbortController>()
  /** The peers that are looked at now for another reason. */
  readonly #looked = new Map<PeerId, AbortController>()

  constructor(components: ConnectionDoubtsComponents) {
    this.#components = components
  }

  /** The path over UDP to the peer is another one. */
  pathChanged(peer: PeerId): void {
    const path = this.#components.pathOf(peer)
    if (path?.alsoStream === false) return this.forget(peer)
    const looking = this.#doubted.get(peer) ?? new AbortController()
    this.#doubted.set(peer, looking)
    // again with each turn for the worse: what answered when a break was near may have ended with the path
    void this.#components.network.endDead?.(peer, looking.signal)
  }

  /**
   * There is a reason to look at the connection now: packets go by the stream and for a while nothing came, or this node's NAT
   * has another mapping for a socket, and may have forgotten those of connections with it.
   */
  look(peer: PeerId): void {
    if (this.#looked.has(peer)) return
    const looking = new AbortController()
    this.#looked.set(peer, looking)
    void this.#lookAt(peer, looking)
  }

  /** Something came from the peer by the stream. */
  answered(peer: PeerId): void {
    this.#looked.get(peer)?.abort()
  }

  forget(peer: PeerId): void {
    this.#doubted.get(peer)?.abort()
    this.#doubted.delete(peer)
    this.answered(peer)
  }

  stop(): void {
    for (const peer of [...this.#doubted.keys(), ...this.#looked.keys()]) this.forget(peer)
  }

  async #lookAt(peer: PeerId, looking: AbortController): Promise<void> {
    await this.#components.network.endDead?.(peer, looking.signal)
    this.#looked.delete(peer)
  }
}
