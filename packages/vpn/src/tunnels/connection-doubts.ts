/** While the path over UDP to a peer is in doubt, its connection is looked at: what ended the one may have ended both. */
import type { PeerId } from '@mesh/core'
import type { UdpPath } from '../paths/path-state.ts'
import type { VpnNetwork } from '../ports.ts'

interface ConnectionDoubtsComponents {
  readonly pathOf: (peer: PeerId) => UdpPath | undefined
  readonly network: Pick<VpnNetwork, 'endDead'>
}

export class ConnectionDoubts {
  readonly #components: ConnectionDoubtsComponents
  /** The peers in doubt, each looked at once until its path is sure again. */
  readonly #doubted = new Map<PeerId, AbortController>()

  constructor(components: ConnectionDoubtsComponents) {
    this.#components = components
  }

  /** The path over UDP to the peer is another one. */
  pathChanged(peer: PeerId): void {
    const path = this.#components.pathOf(peer)
    if (path?.alsoStream === false) return this.forget(peer)
    if (this.#doubted.has(peer)) return
    const looking = new AbortController()
    this.#doubted.set(peer, looking)
    void this.#components.network.endDead?.(peer, looking.signal)
  }

  forget(peer: PeerId): void {
    this.#doubted.get(peer)?.abort()
    this.#doubted.delete(peer)
  }

  stop(): void {
    for (const peer of this.#doubted.keys()) this.forget(peer)
  }
}
