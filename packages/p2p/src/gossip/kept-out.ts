/**
 * Keeps the sealed topic from peers that may not use the network. To gossipsub they are not subscribed, so nothing is
 * published, passed on, announced or handed to them; what they subscribed to is remembered, and holds as soon as they
 * may. They are heard as before, since messages are judged by their author, and the public topic is theirs, too.
 */
import type { PeerId } from '@libp2p/interface'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'

interface KeptOutComponents {
  readonly pubsub: GossipInternals
  readonly mayUse: (peer: string) => boolean
}

export class KeptOutPeers {
  readonly #components: KeptOutComponents
  readonly #subscribe: GossipInternals['handleReceivedSubscription']
  /** Who subscribed and is not counted, by topic. */
  readonly #withheld = new Map<string, Set<string>>()
  #publicTopics: ReadonlySet<string> = new Set()

  constructor(components: KeptOutComponents) {
    const { pubsub } = components
    this.#components = components
    this.#subscribe = pubsub.handleReceivedSubscription.bind(pubsub)
  }

  /** Takes over what gossipsub does when peers subscribe, graft and ask for messages. */
  start(): void {
    const { pubsub } = this.#components
    const handleGraft = pubsub.handleGraft.bind(pubsub)
    const handleIWant = pubsub.handleIWant.bind(pubsub)
    pubsub.handleReceivedSubscription = (peer, topic, subscribe) => this.#hear(peer, topic, subscribe)
    pubsub.handleGraft = async (peer, graft) => {
      const heard = graft.filter(({ topicID }) => topicID === undefined || this.#mayHear(peer, topicID))
      return await handleGraft(peer, heard)
    }
    pubsub.handleIWant = (peer, iwant) =>
      handleIWant(peer, iwant).filter(({ topic }) => this.#mayHear(peer, topic))
  }

  /** Must be called when topics come into use and go out of it: what was said of others is forgotten. */
  rotate(topics: ReadonlySet<string>, publicTopics: ReadonlySet<string>): void {
    const { pubsub } = this.#components
    this.#publicTopics = publicTopics
    for (const [topic, peers] of this.#withheld) {
      if (!topics.has(topic)) this.#withheld.delete(topic)
      for (const peer of peers) if (!pubsub.peers.has(peer)) peers.delete(peer)
    }
  }

  /** Must be called when the answers of `mayUse` have changed. */
  review(): void {
    const { pubsub } = this.#components
    const listed = [...pubsub.topics].flatMap(([topic, peers]) => [...peers].map((peer) => ({ topic, peer })))
    for (const { topic, peer } of listed) if (!this.#mayHear(peer, topic)) this.#keepOut(topic, peer)
    const waiting = [...this.#withheld].flatMap(([topic, peers]) =>
      [...peers].map((peer) => ({ topic, peer })),
    )
    for (const { topic, peer } of waiting) if (this.#mayHear(peer, topic)) this.#letIn(topic, peer)
  }

  #mayHear(peer: string, topic: string): boolean {
    return this.#publicTopics.has(topic) || this.#components.mayUse(peer)
  }

  /** False for what is not counted, after which gossipsub does no more about it. */
  #hear(peerId: PeerId, topic: string, subscribe: boolean): boolean {
    const peer = peerId.toString()
    this.#withheld.get(topic)?.delete(peer)
    if (!subscribe || this.#mayHear(peer, topic)) return this.#subscribe(peerId, topic, subscribe)
    this.#withhold(topic, peer)
    return false
  }

  #withhold(topic: string, peer: string): void {
    const peers = this.#withheld.get(topic) ?? new Set()
    this.#withheld.set(topic, peers.add(peer))
  }

  #keepOut(topic: string, peer: string): void {
    const { pubsub } = this.#components
    const peerId = pubsub.peers.get(peer)
    if (peerId === undefined) return
    this.#subscribe(peerId, topic, false)
    // it is not told: what it passes on by others is welcome, and it is a mesh peer again when it comes back
    pubsub.mesh.get(topic)?.delete(peer)
    this.#withhold(topic, peer)
    this.#tell(peerId, topic, false)
  }

  #letIn(topic: string, peer: string): void {
    const { pubsub } = this.#components
    const peerId = pubsub.peers.get(peer)
    this.#withheld.get(topic)?.delete(peer)
    if (peerId === undefined || !this.#subscribe(peerId, topic, true)) return
    if (pubsub.graftOnSubscribe(peer, topic)) pubsub.sendGraft(peer, [topic])
    this.#tell(peerId, topic, true)
  }

  #tell(peerId: PeerId, topic: string, subscribe: boolean): void {
    const detail = { peerId, subscriptions: [{ topic, subscribe }] }
    this.#components.pubsub.dispatchEvent(new CustomEvent('subscription-change', { detail }))
  }
}
