/**
 * Which peers get every message. Gossipsub fills its mesh at heartbeats, seconds apart, and knows nothing of peers
 * that never let themselves be grafted: original nodes whose bootstrap node we are (wire document, 3.1 and D40).
 *
 * 1. when subscriptions change, the mesh is filled soon after instead of at the next heartbeat
 * 2. every older node is grafted, since none of them grafts a bootstrap node
 * 3. one that prunes us at once holds us as a direct peer: it becomes a direct peer of ours
 * 4. one that grafts us after all does not, and stops being one
 */
import type { GossipSubEvents } from '@libp2p/gossipsub'
import type { Clock, Logger } from '@mesh/core'
import { MESH_FILL_DELAY_MS, PRUNED_AT_ONCE_MS } from '../limits.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { SpokenProtocols } from '../spoken-protocols.ts'
import type { GossipInternals } from './gossipsub-internals.ts'

export interface MeshCareComponents {
  readonly pubsub: GossipInternals
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly logger: Logger
  /** Of gossipsub's settings. */
  readonly degree: number
}

export interface MeshCare {
  /** Fills the mesh of every topic, a moment from now. */
  fillSoon(): void
  stop(): void
}

export function createMeshCare(components: MeshCareComponents): MeshCare {
  const { pubsub, spoken, clock, degree } = components
  const log = components.logger.child('gossip')
  /** Peer to unix ms. */
  const graftedAt = new Map<string, number>()
  let cancelFill: (() => void) | undefined

  /** Known to be no node of ours; before identify nothing is known. */
  const isOlder = (peer: string) => {
    const protocols = spoken.of(peer)
    return protocols !== undefined && !protocols.has(MEMBER_PROTOCOL)
  }

  function fill(): void {
    cancelFill = undefined
    for (const topic of pubsub.getTopics()) {
      const mesh = pubsub.mesh.get(topic)
      if (mesh === undefined) continue
      for (const peerId of pubsub.getSubscribers(topic)) {
        const peer = peerId.toString()
        const wanted = isOlder(peer) || mesh.size < degree
        if (!wanted || mesh.has(peer) || pubsub.direct.has(peer) || !pubsub.streamsOutbound.has(peer))
          continue
        pubsub.addToMesh(peer, topic, 'not_enough')
        pubsub.sendGraft(peer, [topic])
      }
    }
  }

  const fillSoon = () => {
    cancelFill ??= clock.after(MESH_FILL_DELAY_MS, fill)
  }

  const onGraft: EventOf<'gossipsub:graft'> = ({ detail: { peerId: peer, direction } }) => {
    if (direction === 'outbound') {
      graftedAt.set(peer, clock.now())
    } else if (pubsub.direct.delete(peer)) {
      log.debug('peer is no direct peer any more', { peer })
      fillSoon()
    }
  }
  const onPrune: EventOf<'gossipsub:prune'> = ({ detail: { peerId: peer, direction } }) => {
    const grafted = graftedAt.get(peer)
    if (direction !== 'inbound' || grafted === undefined || !isOlder(peer)) return
    graftedAt.delete(peer)
    if (clock.now() - grafted > PRUNED_AT_ONCE_MS) return
    pubsub.direct.add(peer)
    log.debug('peer holds us as its direct peer, and is ours now', { peer })
  }
  const onSubscriptions = () => fillSoon()
  const stopSpoken = spoken.onChange((peer) => {
    if (spoken.of(peer) === undefined) {
      pubsub.direct.delete(peer)
      graftedAt.delete(peer)
    } else fillSoon()
  })
  pubsub.addEventListener('gossipsub:graft', onGraft)
  pubsub.addEventListener('gossipsub:prune', onPrune)
  pubsub.addEventListener('subscription-change', onSubscriptions)

  return {
    fillSoon,
    stop() {
      cancelFill?.()
      stopSpoken()
      pubsub.removeEventListener('gossipsub:graft', onGraft)
      pubsub.removeEventListener('gossipsub:prune', onPrune)
      pubsub.removeEventListener('subscription-change', onSubscriptions)
    },
  }
}

type EventOf<Name extends keyof GossipSubEvents> = (event: GossipSubEvents[Name]) => void
