/**
 * Checks the connection to a peer while its UDP path is in doubt, because one cause may have ended both. It also checks when
 * this node's NAT has another mapping, and while packets go by the stream and nothing comes.
 */
import type { PeerId } from '@mesh/core'
import type { UdpPath } from '../paths/path-state.ts'
import type { VpnNetwork } from '../ports.ts'

interface LivenessChecksComponents {
  readonly pathOf: (peer: PeerId) => UdpPath | undefined
  readonly network: Pick<VpnNetwork, 'endDead'>
}

export class LivenessChecks {
  readonly #components: LivenessChecksComponents
  /** The peers whose path is in doubt, until it is sure again. */
  readonly #doubted = new Map<PeerId, AbortController>()
  /** The peers of whom nothing comes, and who are looked at now. */
  readonly #silent = new Map<PeerId, AbortController>()

  constructor(components: LivenessChecksComponents) {
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

  /** This node's NAT has another mapping, as the peer sees it: it may have forgotten those of connections, too. */
  remapped(peer: PeerId): void {
    // once it is in doubt another one is made, and there is no hurry to end it
    void this.#components.network.endDead?.(peer, AbortSignal.abort())
  }

  /** Packets go to the peer by the stream, and for a while nothing came. */
  unanswered(peer: PeerId): void {
    if (this.#silent.has(peer)) return
    const looking = new AbortController()
    this.#silent.set(peer, looking)
    void this.#look(peer, looking)
  }

  /** Something came from such a peer. */
  answered(peer: PeerId): void {
    this.#silent.get(peer)?.abort()
  }

  forget(peer: PeerId): void {
    this.#doubted.get(peer)?.abort()
    this.#doubted.delete(peer)
    this.answered(peer)
  }

  stop(): void {
    for (const peer of [...this.#doubted.keys(), ...this.#silent.keys()]) this.forget(peer)
  }

  async #look(peer: PeerId, looking: AbortController): Promise<void> {
    await this.#components.network.endDead?.(peer, looking.signal)
    this.#silent.delete(peer)
  }
}
