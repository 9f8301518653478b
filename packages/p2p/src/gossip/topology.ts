/**
 * Chooses which peers get every message. Gossipsub fills its mesh at random and seconds apart, and ignores legacy peers that are
 * never grafted.
 *
 * 1. Changed subscriptions or connections pick mesh peers soon (`overlay.ts`), with few peers at once. A peer that only a relay
 *    joins is left out if that relay forwards messages itself.
 * 2. Every legacy peer is a mesh peer: none of them grafts a bootstrap node (`legacy/direct-peers.ts`).
 * 3. A peer that had a message first becomes one for a while, a few at a time.
 * 4. When peers have not changed for a while, mesh peers that neither end picks are given up. Peers that only this end picked are
 *    given up a while after any change, so that fifty starting machines do not all send to all.
 */
import type { GossipSubEvents } from '@libp2p/gossipsub'
import type { Connection, Libp2p } from '@libp2p/interface'
import type { Clock, Logger, PeerId } from '@mesh/core'
import { LegacyDirectPeers } from '../legacy/direct-peers.ts'
import { isLegacyPeer } from '../legacy/legacy-peers.ts'
import {
  FEW_PEERS,
  FLOOD_PUBLISH_CHANGING_PEERS,
  FLOOD_PUBLISH_PEERS,
  MAX_USEFUL_MESH_PEERS,
  MESH_FILL_DELAY_MS,
  MESH_PEER_BACKOFF_MS,
  MESH_REFILL_DELAY_MS,
  MESH_TRIM_DELAY_MS,
  USEFUL_MESH_PEER_MIN_MS,
} from './limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { MeshPeers } from './mesh-peers.ts'
import { apartFromRelayed, pickNeighbours } from './overlay.ts'
import { DelayedCall } from './timers.ts'

interface GossipTopologyComponents {
  readonly self: PeerId
  readonly libp2p: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>
  readonly pubsub: GossipInternals
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly logger: Logger
}

type EventOf<Name extends keyof GossipSubEvents> = (event: GossipSubEvents[Name]) => void

export class GossipTopology {
  readonly #components: GossipTopologyComponents
  readonly #log: Logger
  readonly #directPeers: LegacyDirectPeers
  readonly #peersByTopic = new Map<string, MeshPeers>()
  readonly #fillSoon: DelayedCall
  readonly #refill: DelayedCall
  readonly #fillAfterBackoff: DelayedCall
  readonly #trimOwn: DelayedCall
  readonly #trimLater: DelayedCall
  readonly #reviewUseful: DelayedCall
  #stopSpoken = () => {}
  #isStopped = false

  constructor(components: GossipTopologyComponents) {
    const { clock } = components
    this.#components = components
    this.#log = components.logger.child('gossip')
    this.#directPeers = new LegacyDirectPeers({ ...components, logger: this.#log })
    this.#fillSoon = new DelayedCall(clock, MESH_FILL_DELAY_MS, () => this.#fill())
    this.#refill = new DelayedCall(clock, MESH_REFILL_DELAY_MS, () => {
      this.#fill()
      this.#trim(false)
    })
    const afterBackoffMs = MESH_PEER_BACKOFF_MS + MESH_FILL_DELAY_MS
    this.#fillAfterBackoff = new DelayedCall(clock, afterBackoffMs, () => this.#fill())
    this.#trimOwn = new DelayedCall(clock, MESH_TRIM_DELAY_MS, () => this.#trim(false))
    this.#trimLater = new DelayedCall(clock, MESH_TRIM_DELAY_MS, () => this.#trim(true))
    this.#reviewUseful = new DelayedCall(clock, USEFUL_MESH_PEER_MIN_MS, () => this.#review())
  }

  /** Takes over from gossipsub whom it grafts and prunes. */
  start(): void {
    const { pubsub, spoken, libp2p } = this.#components
    this.#overrideJoin()
    this.#overrideGraftOnSubscribe()
    this.#overrideHandleGraft()
    this.#overrideHandlePrune()
    this.#overrideHandleIHave()
    this.#stopSpoken = spoken.onChange(this.#onSpoken)
    pubsub.addEventListener('gossipsub:graft', this.#onGraft)
    pubsub.addEventListener('gossipsub:prune', this.#onPrune)
    pubsub.addEventListener('subscription-change', this.#onChange)
    libp2p.addEventListener('connection:open', this.#onConnection)
    libp2p.addEventListener('connection:close', this.#onConnection)
  }

  stop(): void {
    const { pubsub, libp2p } = this.#components
    this.#isStopped = true
    this.#stopSpoken()
    pubsub.removeEventListener('gossipsub:graft', this.#onGraft)
    pubsub.removeEventListener('gossipsub:prune', this.#onPrune)
    pubsub.removeEventListener('subscription-change', this.#onChange)
    libp2p.removeEventListener('connection:open', this.#onConnection)
    libp2p.removeEventListener('connection:close', this.#onConnection)
    const calls = [
      this.#fillSoon,
      this.#refill,
      this.#fillAfterBackoff,
      this.#trimOwn,
      this.#trimLater,
      this.#reviewUseful,
    ]
    for (const call of calls) call.stop()
  }

  /** True when so few are on the topic that each may be sent to directly, and none of them over a relay on the topic. */
  isFew(topic: string): boolean {
    const peers = this.#components.pubsub.getSubscribers(topic).map(String)
    return peers.length <= FLOOD_PUBLISH_PEERS && this.#apart(peers).length === peers.length
  }

  /** True when many are on the topic, and the peers that forward messages are picked. */
  isMeshed(topic: string): boolean {
    const { pubsub } = this.#components
    const meshPeers = pubsub.mesh.get(topic)?.size ?? 0
    return meshPeers >= FEW_PEERS && pubsub.getSubscribers(topic).length > FLOOD_PUBLISH_CHANGING_PEERS
  }

  // picking mesh peers

  #fill(): void {
    const { pubsub, spoken } = this.#components
    for (const topic of this.#peersByTopic.keys()) {
      if (!pubsub.mesh.has(topic)) this.#peersByTopic.delete(topic)
    }
    for (const topic of pubsub.getTopics()) {
      for (const peer of pubsub.getSubscribers(topic).map(String)) {
        if (isLegacyPeer(spoken, peer) && !this.#peersOf(topic).isRefusedBy(peer)) this.#graft(peer, topic)
      }
      for (const peer of this.#pick(topic)) this.#graft(peer, topic)
    }
  }

  #graft(peer: string, topic: string): void {
    const { pubsub } = this.#components
    const mesh = pubsub.mesh.get(topic)
    if (mesh === undefined || !this.#canGraft(peer, topic)) return
    const isNew = !mesh.has(peer)
    // a peer that grafted us is told that this end wants it too, once
    if (!this.#peersOf(topic).want(peer) && !isNew) return
    if (isNew) pubsub.addToMesh(peer, topic, 'not_enough')
    pubsub.sendGraft(peer, [topic])
  }

  /** @param mayTry also peers that may still want this end */
  #trim(mayTry: boolean): void {
    const { pubsub, clock } = this.#components
    for (const topic of pubsub.getTopics()) {
      const mesh = pubsub.mesh.get(topic)
      if (mesh === undefined) continue
      const picked = new Set(this.#pick(topic))
      for (const peer of this.#alike(topic)) {
        if (picked.has(peer) || !mesh.has(peer)) continue
        if (!this.#peersOf(topic).giveUp(peer, clock.monotonic(), mayTry)) continue
        mesh.delete(peer)
        pubsub.sendPrune(peer, topic).catch((error: unknown) => {
          this.#log.debug('a mesh peer was not told that it is given up', { peer, error: String(error) })
        })
      }
    }
  }

  #review(): void {
    const now = this.#components.clock.monotonic()
    // what is useful now is asked about the next time
    if ([...this.#peersByTopic.values()].some((peers) => peers.countUseful(now) > 0))
      this.#reviewUseful.request()
    this.#trim(true)
  }

  #pick(topic: string): readonly string[] {
    return pickNeighbours(this.#components.self, this.#apart(this.#alike(topic)), topic)
  }

  /** Gives the subscribers that can be reached and pick their mesh peers by the same rule as this node. */
  #alike(topic: string): readonly string[] {
    const { pubsub, spoken } = this.#components
    return pubsub
      .getSubscribers(topic)
      .map(String)
      .filter((peer) => !isLegacyPeer(spoken, peer) && pubsub.streamsOutbound.has(peer))
  }

  #apart(peers: readonly string[]): readonly string[] {
    return apartFromRelayed(peers, this.#components.libp2p.getConnections())
  }

  /** Who is not subscribed is sent nothing, whatever it says to have. */
  #canGraft(peer: string, topic: string): boolean {
    const { pubsub } = this.#components
    const isSubscribed = pubsub.topics.get(topic)?.has(peer) === true
    return isSubscribed && !pubsub.direct.has(peer) && pubsub.streamsOutbound.has(peer)
  }

  #peersOf(topic: string): MeshPeers {
    const known = this.#peersByTopic.get(topic)
    if (known !== undefined) return known
    const made = new MeshPeers(this.#components.self)
    this.#peersByTopic.set(topic, made)
    return made
  }

  // what gossipsub does, done otherwise

  /** Joining a topic grafts nobody at once: whoever is known by then was quickest, and would become a hub. */
  #overrideJoin(): void {
    const { pubsub } = this.#components
    const join = pubsub.join.bind(pubsub)
    pubsub.join = (topic) => {
      if (this.#isStopped) return join(topic)
      if (!pubsub.mesh.has(topic)) pubsub.mesh.set(topic, new Set())
      this.#onChange()
    }
  }

  #overrideGraftOnSubscribe(): void {
    const { pubsub } = this.#components
    pubsub.graftOnSubscribe = (peer, topic) => {
      const mesh = pubsub.mesh.get(topic)
      if (mesh === undefined || mesh.has(peer) || !this.#canGraft(peer, topic)) return false
      if (pubsub.getSubscribers(topic).length > FEW_PEERS) return false
      pubsub.addToMesh(peer, topic, 'not_enough')
      this.#peersOf(topic).want(peer)
      return true
    }
  }

  #overrideHandleGraft(): void {
    const { pubsub } = this.#components
    const handleGraft = pubsub.handleGraft.bind(pubsub)
    pubsub.handleGraft = (peer, graft) => {
      for (const { topicID } of graft) {
        if (topicID !== undefined && pubsub.mesh.has(topicID)) this.#peersOf(topicID).wantedBy(peer)
      }
      return handleGraft(peer, graft)
    }
  }

  #overrideHandlePrune(): void {
    const { pubsub, spoken } = this.#components
    const handlePrune = pubsub.handlePrune.bind(pubsub)
    pubsub.handlePrune = (peer, prune) => {
      for (const { topicID, peers } of prune) {
        if (topicID === undefined || !isLegacyPeer(spoken, peer)) continue
        if ((peers ?? []).length > 0) this.#directPeers.hasEnoughPeers(peer)
        this.#peersByTopic.get(topicID)?.refusedBy(peer)
      }
      return handlePrune(peer, prune)
    }
  }

  #overrideHandleIHave(): void {
    const { pubsub, clock } = this.#components
    const handleIHave = pubsub.handleIHave.bind(pubsub)
    pubsub.handleIHave = (peer, ihave) => {
      const wanted = handleIHave(peer, ihave)
      if (wanted.length === 0 || this.#isStopped) return wanted
      for (const { topicID } of ihave) {
        if (topicID === undefined || !pubsub.mesh.has(topicID)) continue
        const peers = this.#peersOf(topicID)
        if (peers.countUseful(clock.monotonic()) >= MAX_USEFUL_MESH_PEERS) continue
        peers.useful(peer, clock.monotonic())
        this.#graft(peer, topicID)
        this.#reviewUseful.request()
      }
      return wanted
    }
  }

  // what is told

  readonly #onChange = (): void => {
    this.#fillInTime()
    this.#trimOwn.request()
    this.#trimLater.restart()
  }

  /** Who hears of much has enough mesh peers for a while, however many come: picking anew with each would make them many. */
  #fillInTime(): void {
    const { pubsub } = this.#components
    const hasEnough = pubsub.getTopics().every((topic) => {
      const meshPeers = pubsub.mesh.get(topic)?.size ?? 0
      return meshPeers >= FEW_PEERS && pubsub.getSubscribers(topic).length > FLOOD_PUBLISH_PEERS
    })
    if (hasEnough) this.#refill.request()
    else this.#fillSoon.request()
  }

  /** A relayed peer became direct, or the other way round; who comes and goes is told by its subscriptions. */
  readonly #onConnection = ({ detail: { remotePeer } }: CustomEvent<Connection>): void => {
    const { pubsub } = this.#components
    const isOn = (topic: string) => pubsub.getSubscribers(topic).some((peer) => remotePeer.equals(peer))
    if (pubsub.getTopics().some(isOn)) this.#onChange()
  }

  readonly #onGraft: EventOf<'gossipsub:graft'> = ({ detail }) => {
    if (this.#directPeers.grafted(detail)) this.#fillSoon.request()
  }

  readonly #onPrune: EventOf<'gossipsub:prune'> = ({ detail: { peerId: peer, topic, direction } }) => {
    if (direction !== 'inbound') return
    this.#peersByTopic.get(topic)?.gone(peer)
    if (isLegacyPeer(this.#components.spoken, peer)) this.#directPeers.pruned(peer)
    else this.#fillAfterBackoff.request()
  }

  readonly #onSpoken = (peer: string): void => {
    if (this.#components.spoken.of(peer) !== undefined) return this.#fillInTime()
    this.#directPeers.forget(peer)
    for (const peers of this.#peersByTopic.values()) peers.gone(peer)
    this.#onChange()
  }
}
