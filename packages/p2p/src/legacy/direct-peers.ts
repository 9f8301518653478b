/**
 * A legacy node holds its bootstrap peers as direct peers of gossipsub, and prunes them whenever they graft it. So the bootstrap
 * node's mesh stays empty, and it passes nothing on (docs/WIRE.md 3.1 and D40). A peer that prunes us at once becomes a
 * direct peer of ours, until it grafts us after all.
 */
import type { GossipSubEvents } from '@libp2p/gossipsub'
import type { Clock, Logger } from '@mesh/core'
import { PRUNED_AT_ONCE_MS } from './limits.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'

interface LegacyDirectPeersComponents {
  readonly pubsub: GossipInternals
  readonly clock: Clock
  readonly logger: Logger
}

export class LegacyDirectPeers {
  readonly #components: LegacyDirectPeersComponents
  /** The times of the monotonic clock at which we grafted peers that have not pruned us since. */
  readonly #graftedAtMs = new Map<string, number>()

  constructor(components: LegacyDirectPeersComponents) {
    this.#components = components
  }

  /** The peer was grafted, by us or by itself. Gives true when it was a direct peer and is one no more. */
  grafted({ peerId: peer, direction }: GossipSubEvents['gossipsub:graft']['detail']): boolean {
    const { pubsub, clock, logger } = this.#components
    if (direction === 'outbound') {
      this.#graftedAtMs.set(peer, clock.monotonic())
      return false
    }
    if (!pubsub.direct.delete(peer)) return false
    logger.debug('peer is no direct peer any more', { peer })
    return true
  }

  /** The peer's prune names others to go to: it has enough mesh peers, and does not hold us as a direct peer. */
  hasEnoughPeers(peer: string): void {
    this.#graftedAtMs.delete(peer)
  }

  /** A legacy peer pruned us: at once after our graft means that it holds us as its direct peer. */
  pruned(peer: string): void {
    const { pubsub, clock, logger } = this.#components
    const graftedAtMs = this.#graftedAtMs.get(peer)
    this.#graftedAtMs.delete(peer)
    if (graftedAtMs === undefined || clock.monotonic() - graftedAtMs > PRUNED_AT_ONCE_MS) return
    pubsub.direct.add(peer)
    logger.debug('peer holds us as its direct peer, and is ours now', { peer })
  }

  /** The peer is gone; what comes back under its id is judged anew. */
  forget(peer: string): void {
    this.#components.pubsub.direct.delete(peer)
    this.#graftedAtMs.delete(peer)
  }
}
