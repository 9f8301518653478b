/**
 * Which peers get every message. Gossipsub fills its mesh at random and at heartbeats, seconds apart, and knows
 * nothing of peers that never let themselves be grafted: original nodes whose bootstrap node we are (docs/WIRE.md
 * 3.1 and D40).
 *
 * 1. when subscriptions or connections change, links are picked soon after (overlay.ts); with few peers, at once. Not
 *    among them: whoever only a relay joins that passes messages on itself, as our own relays do; such a link would
 *    carry everything over the relay once more, which in a star is most of what the hub sends
 * 2. every older node is linked to, since none of them grafts a bootstrap node
 * 3. one that prunes us at once holds us as a direct peer: it becomes a direct peer of ours; one that grafts us after
 *    all does not, and stops being one
 * 4. a peer that had a message which came to us by no link becomes a link for a while: it stands where the others do
 *    not reach, or the others were slow. Kept for good, a burst of writes would nearly double what idle nodes send.
 * 5. when peers have not changed for a while, links that neither end picks any more are given up
 */
import type { GossipSubEvents } from '@libp2p/gossipsub'
import type { Connection, Libp2p } from '@libp2p/interface'
import type { Clock, Logger, PeerId } from '@mesh/core'
import {
  FEW_PEERS,
  FLOOD_PUBLISH_PEERS,
  LINK_BACKOFF_MS,
  MESH_FILL_DELAY_MS,
  MESH_SETTLE_MS,
  PRUNED_AT_ONCE_MS,
  USEFUL_LINK_MIN_MS,
} from '../limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { GossipInternals } from '../upstream/gossipsub-internals.ts'
import { createLinks, type Links } from './mesh-peers.ts'
import { apartFromRelayed, pickNeighbours } from './overlay.ts'

export interface MeshCareComponents {
  readonly self: PeerId
  readonly libp2p: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>
  readonly pubsub: GossipInternals
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly logger: Logger
}

export interface MeshCare {
  start(): void
  /** So few are on the topic that each may be sent to directly, and none of them over a relay that passes it on. */
  isFew(topic: string): boolean
  stop(): void
}

export function createMeshCare(components: MeshCareComponents): MeshCare {
  const { self, libp2p, pubsub, spoken, clock } = components
  const log = components.logger.child('gossip')
  /** By topic. */
  const links = new Map<string, Links>()
  /** Peer to unix ms. */
  const graftedAt = new Map<string, number>()
  const fillSoon = once(MESH_FILL_DELAY_MS, fill)
  const fillAgain = once(LINK_BACKOFF_MS + MESH_FILL_DELAY_MS, fill)
  const settle = once(MESH_SETTLE_MS, giveUpLinks)
  const review = once(USEFUL_LINK_MIN_MS, () => {
    // what is useful now is asked about the next time
    if ([...links.values()].some((ofTopic) => ofTopic.hasUseful(clock.now()))) review.start()
    giveUpLinks()
  })

  /** Runs some time after it is asked for, once. */
  function once(delayMs: number, run: () => void) {
    let cancel: (() => void) | undefined
    const stop = () => {
      cancel?.()
      cancel = undefined
    }
    const start = () => {
      cancel ??= clock.after(delayMs, () => {
        cancel = undefined
        run()
      })
    }
    return { start, stop }
  }

  /** Known to be no node of ours; before identify nothing is known. */
  const isOlder = (peer: string) => {
    const protocols = spoken.of(peer)
    return protocols !== undefined && !protocols.has(MEMBER_PROTOCOL)
  }

  const linksOf = (topic: string): Links => {
    const known = links.get(topic)
    if (known !== undefined) return known
    const made = createLinks(self)
    links.set(topic, made)
    return made
  }

  // links

  function link(peer: string, topic: string): void {
    const mesh = pubsub.mesh.get(topic)
    if (mesh === undefined || pubsub.direct.has(peer) || !pubsub.streamsOutbound.has(peer)) return
    const isNew = !mesh.has(peer)
    // a link that the other end made is told that this end wants it too, once
    if (!linksOf(topic).want(peer) && !isNew) return
    if (isNew) pubsub.addToMesh(peer, topic, 'not_enough')
    pubsub.sendGraft(peer, [topic])
  }

  /** Of our own kind and reachable: who picks by the same rule. */
  const alike = (topic: string) =>
    pubsub
      .getSubscribers(topic)
      .map(String)
      .filter((peer) => !isOlder(peer) && pubsub.streamsOutbound.has(peer))

  const apart = (peers: readonly string[]) => apartFromRelayed(peers, libp2p.getConnections())
  const pick = (peers: readonly string[], topic: string) => pickNeighbours(self, apart(peers), topic)

  function fill(): void {
    for (const topic of links.keys()) if (!pubsub.mesh.has(topic)) links.delete(topic)
    for (const topic of pubsub.getTopics()) {
      for (const peer of pubsub.getSubscribers(topic).map(String)) {
        if (isOlder(peer) && !linksOf(topic).isRefusedBy(peer)) link(peer, topic)
      }
      for (const peer of pick(alike(topic), topic)) link(peer, topic)
    }
  }

  function giveUpLinks(): void {
    for (const topic of pubsub.getTopics()) {
      const mesh = pubsub.mesh.get(topic)
      if (mesh === undefined) continue
      const peers = alike(topic)
      const picked = new Set(pick(peers, topic))
      for (const peer of peers) {
        if (picked.has(peer) || !mesh.has(peer) || !linksOf(topic).giveUp(peer, clock.now())) continue
        mesh.delete(peer)
        pubsub.sendPrune(peer, topic).catch((error: unknown) => {
          log.debug('a link was not given up', { peer, error: String(error) })
        })
      }
    }
  }

  function onChange(): void {
    fillSoon.start()
    settle.stop()
    settle.start()
  }

  /** A relayed peer became direct, or the other way round; who comes and goes is told by its subscriptions. */
  const onConnection = ({ detail: { remotePeer } }: CustomEvent<Connection>) => {
    const isOn = (topic: string) => pubsub.getSubscribers(topic).some((peer) => remotePeer.equals(peer))
    if (pubsub.getTopics().some(isOn)) onChange()
  }

  // what gossipsub does, done otherwise

  const join = pubsub.join.bind(pubsub)
  const handleGraft = pubsub.handleGraft.bind(pubsub)
  const handlePrune = pubsub.handlePrune.bind(pubsub)
  const handleIHave = pubsub.handleIHave.bind(pubsub)
  let stopped = false

  const ways: Pick<
    GossipInternals,
    'join' | 'graftOnSubscribe' | 'handleGraft' | 'handlePrune' | 'handleIHave'
  > = {
    join(topic) {
      // whom we know by now are those that were quickest: linking to them would make hubs of them
      if (stopped) return join(topic)
      if (!pubsub.mesh.has(topic)) pubsub.mesh.set(topic, new Set())
      onChange()
    },
    graftOnSubscribe(peer, topic) {
      const mesh = pubsub.mesh.get(topic)
      if (mesh === undefined || mesh.has(peer) || pubsub.getSubscribers(topic).length > FEW_PEERS)
        return false
      if (pubsub.direct.has(peer) || !pubsub.streamsOutbound.has(peer)) return false
      pubsub.addToMesh(peer, topic, 'not_enough')
      linksOf(topic).want(peer)
      return true
    },
    handleGraft(peer, graft) {
      for (const { topicID } of graft) {
        if (topicID !== undefined && pubsub.mesh.has(topicID)) linksOf(topicID).wantedBy(peer)
      }
      return handleGraft(peer, graft)
    },
    handlePrune(peer, prune) {
      for (const { topicID, peers } of prune) {
        if (topicID === undefined || !isOlder(peer)) continue
        // one that has enough links names others to go to; one that holds us as its direct peer does not
        if ((peers ?? []).length > 0) graftedAt.delete(peer)
        links.get(topicID)?.refusedBy(peer)
      }
      return handlePrune(peer, prune)
    },
    handleIHave(peer, ihave) {
      const wanted = handleIHave(peer, ihave)
      if (wanted.length > 0 && !stopped) {
        for (const { topicID } of ihave) {
          if (topicID === undefined || !pubsub.mesh.has(topicID)) continue
          linksOf(topicID).useful(peer, clock.now())
          link(peer, topicID)
          review.start()
        }
      }
      return wanted
    },
  }

  // direct peers

  const onGraft: EventOf<'gossipsub:graft'> = ({ detail: { peerId: peer, direction } }) => {
    if (direction === 'outbound') {
      graftedAt.set(peer, clock.now())
    } else if (pubsub.direct.delete(peer)) {
      log.debug('peer is no direct peer any more', { peer })
      fillSoon.start()
    }
  }
  const onPrune: EventOf<'gossipsub:prune'> = ({ detail: { peerId: peer, topic, direction } }) => {
    if (direction !== 'inbound') return
    links.get(topic)?.gone(peer)
    if (!isOlder(peer)) return fillAgain.start()
    const grafted = graftedAt.get(peer)
    graftedAt.delete(peer)
    if (grafted === undefined || clock.now() - grafted > PRUNED_AT_ONCE_MS) return
    pubsub.direct.add(peer)
    log.debug('peer holds us as its direct peer, and is ours now', { peer })
  }
  const onSpoken = (peer: string) => {
    if (spoken.of(peer) !== undefined) return fillSoon.start()
    pubsub.direct.delete(peer)
    graftedAt.delete(peer)
    for (const ofTopic of links.values()) ofTopic.gone(peer)
    onChange()
  }
  let stopSpoken = () => {}

  return {
    start() {
      Object.assign(pubsub, ways)
      stopSpoken = spoken.onChange(onSpoken)
      pubsub.addEventListener('gossipsub:graft', onGraft)
      pubsub.addEventListener('gossipsub:prune', onPrune)
      pubsub.addEventListener('subscription-change', onChange)
      libp2p.addEventListener('connection:open', onConnection)
      libp2p.addEventListener('connection:close', onConnection)
    },
    isFew(topic) {
      const peers = pubsub.getSubscribers(topic)
      return peers.length <= FLOOD_PUBLISH_PEERS && apart(peers.map(String)).length === peers.length
    },
    stop() {
      stopped = true
      stopSpoken()
      pubsub.removeEventListener('gossipsub:graft', onGraft)
      pubsub.removeEventListener('gossipsub:prune', onPrune)
      pubsub.removeEventListener('subscription-change', onChange)
      libp2p.removeEventListener('connection:open', onConnection)
      libp2p.removeEventListener('connection:close', onConnection)
      for (const timer of [fillSoon, fillAgain, settle, review]) timer.stop()
    },
  }
}

type EventOf<Name extends keyof GossipSubEvents> = (event: GossipSubEvents[Name]) => void
