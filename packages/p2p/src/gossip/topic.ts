/**
 * The network's sealed gossip topic, and its rotation. Nothing goes to or comes from a peer that is kept out (`kept-out.ts`).
 *
 * Out: a message is sealed with the window's key and published on its topic, for a while on the previous one too. It is
 * repeated if a boundary may have swallowed it (`legacy/republications.ts`).
 *
 * In: gossipsub checks the signature. `message-validator.ts` judges author, envelope and seal. Listeners hear it once and may
 * refuse. Gossipsub forwards what was taken.
 */
import type { GossipSub, GossipsubMessage } from '@libp2p/gossipsub'
import type { Libp2p } from '@libp2p/interface'
import { type Clock, type Logger, MeshError, type PeerId, type Random, tryParsePeerId } from '@mesh/core'
import {
  createNetworkSecrets,
  createSealer,
  type NetworkConfig,
  type NetworkSecrets,
  portableSealCipher,
  SEAL_NONCE_BYTES,
  type SealCipher,
  sealedLength,
  type Sealer,
} from '@mesh/network'
import { createRepublications, type Publication, type Republications } from '../legacy/republications.ts'
import {
  FLOOD_PUBLISH_AFTER_CHANGE_MS,
  GOSSIP_OVERHEAD_BYTES,
  GOSSIP_TICK_MS,
  MAX_CACHED_MESSAGE_BYTES,
} from './limits.ts'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import type { Membership } from '../membership/membership.ts'
import type { GossipTopic, PublicTopic, TopicMessage } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { Refusals } from '../refusals.ts'
import { type GossipInternals, openInternals } from '../upstream/gossipsub/internals.ts'
import { boundMessageCache, boundRpc } from '../upstream/gossipsub/bounds.ts'
import { shareFrames } from '../upstream/gossipsub/shared-frames.ts'
import { encodeEnvelope, encodePublicEnvelope } from './envelope.ts'
import { GossipStreams } from './gossip-streams.ts'
import { maxFrameBytes } from './gossipsub-settings.ts'
import { KeptOutPeers } from './kept-out.ts'
import { MessageValidator } from './message-validator.ts'
import { PublicTopicReader } from './public-topic.ts'
import { overlapOf, planRotation, type RotationPlan } from './rotation.ts'
import { TopicMembers } from './topic-members.ts'
import { GossipTopology } from './topology.ts'

interface GossipTopicComponents {
  /** The host, with gossipsub set as `gossipsubSettings` says. */
  readonly libp2p: Libp2p<{ readonly pubsub: GossipSub }>
  readonly membership: Membership
  readonly held: HeldBytes
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly random: Random
  readonly refusals: Refusals
  readonly logger: Logger
  /** The seal's cipher; the one that runs everywhere by default. */
  readonly cipher?: SealCipher
}

interface GossipTopicInit {
  readonly config: NetworkConfig
  readonly self: PeerId
  /** True when this node is on the public topic, too. */
  readonly hasPublicTopic?: boolean
}

/** A `GossipTopic` with a life; it may start before or after libp2p. */
export class GossipTopicService implements GossipTopic {
  readonly #config: NetworkConfig
  readonly #components: GossipTopicComponents
  readonly #log: Logger
  readonly #pubsub: GossipInternals
  readonly #secrets: NetworkSecrets
  readonly #sealer: Sealer
  readonly #validator: MessageValidator
  readonly #republications: Republications
  readonly #streams: GossipStreams
  readonly #topology: GossipTopology
  readonly #keptOut: KeptOutPeers
  readonly #members: TopicMembers
  readonly #public: PublicTopicReader | undefined
  readonly #listeners = new Set<(message: TopicMessage) => unknown>()
  /** The time of the monotonic clock at which peers or topics changed last. */
  #changedAtMs = Number.NEGATIVE_INFINITY
  #cancelTick = () => {}
  #stopMembership = () => {}
  #state: 'made' | 'running' | 'stopped' = 'made'

  constructor({ config, self, hasPublicTopic = false }: GossipTopicInit, components: GossipTopicComponents) {
    this.#config = config
    this.#components = components
    this.#log = components.logger.child('topic')
    this.#pubsub = openInternals(components.libp2p.services.pubsub)
    boundMessageCache(this.#pubsub, MAX_CACHED_MESSAGE_BYTES)
    shareFrames(this.#pubsub)
    boundRpc(this.#pubsub)
    this.#secrets = createNetworkSecrets(config)
    this.#sealer = createSealer(this.#secrets, components.cipher ?? portableSealCipher)
    const { intervalMs } = this.#secrets
    const { maxMessageBytes } = config
    const parts = { ...components, self, pubsub: this.#pubsub, sealer: this.#sealer }
    this.#validator = new MessageValidator({ self, maxMessageBytes, tell: this.#tell }, parts)
    this.#republications = createRepublications(intervalMs, overlapOf(intervalMs).republish)
    this.#streams = new GossipStreams({ maxFrameBytes: maxFrameBytes(config) }, parts)
    this.#topology = new GossipTopology(parts)
    const mayUse = (peer: string) => components.membership.mayUse(peer)
    this.#keptOut = new KeptOutPeers({ pubsub: this.#pubsub, mayUse })
    this.#members = new TopicMembers(() => this.peers())
    this.#public = hasPublicTopic ? new PublicTopicReader(parts) : undefined
  }

  get publicTopic(): PublicTopic | undefined {
    const reader = this.#public
    if (reader === undefined) return undefined
    return {
      publish: ({ text, signature }) => this.#publishPublic(text, signature),
      onMessage: (listener) => reader.onMessage(listener),
    }
  }

  async start(): Promise<void> {
    if (this.#state !== 'made') return
    this.#state = 'running'
    const { libp2p, membership } = this.#components
    this.#pubsub.addEventListener('gossipsub:message', this.#onGossip)
    this.#pubsub.addEventListener('subscription-change', this.#onSubscriptions)
    libp2p.addEventListener('start', this.#tick)
    const stopMembership = [
      membership.onChange(this.#members.update),
      membership.onMember(this.#members.update),
    ]
    this.#stopMembership = () => stopMembership.forEach((stop) => stop())
    this.#topology.start()
    this.#keptOut.start()
    await this.#streams.start()
    this.#tick()
    // gossipsub may have started, and counted subscriptions, before this
    this.#keptOut.review()
  }

  async stop(): Promise<void> {
    if (this.#state === 'stopped') return
    this.#state = 'stopped'
    this.#cancelTick()
    this.#pubsub.removeEventListener('gossipsub:message', this.#onGossip)
    this.#pubsub.removeEventListener('subscription-change', this.#onSubscriptions)
    this.#components.libp2p.removeEventListener('start', this.#tick)
    this.#stopMembership()
    this.#topology.stop()
    this.#streams.stop()
    this.#members.stop()
    this.#public?.stop()
    this.#listeners.clear()
  }

  async publish(plaintext: Uint8Array): Promise<number> {
    if (this.#state !== 'running' || !this.#pubsub.isStarted()) {
      throw new MeshError('p2p.not_started', 'the gossip topic is not open')
    }
    const length = sealedLength(plaintext.length) + GOSSIP_OVERHEAD_BYTES
    if (length > this.#config.maxMessageBytes) {
      throw new MeshError('p2p.message_too_long', 'the message is longer than the network allows', {
        details: { bytes: length, limit: this.#config.maxMessageBytes },
      })
    }
    const { random, clock } = this.#components
    const publication = { plaintext, nonce: random.bytes(SEAL_NONCE_BYTES), atMs: clock.now() }
    this.#republications.note(publication)
    return await this.#send(publication, this.#plan().published)
  }

  onMessage(listener: (message: TopicMessage) => unknown): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  peers(): readonly PeerId[] {
    const peers = new Set<PeerId>()
    for (const window of this.#plan().published) {
      for (const subscriber of this.#pubsub.getSubscribers(this.#topicOf(window))) {
        const peer = tryParsePeerId(subscriber.toString())
        if (peer !== undefined && this.#components.membership.isMember(peer)) peers.add(peer)
      }
    }
    return [...peers]
  }

  onPeer(listener: (peer: PeerId, present: boolean) => void): () => void {
    return this.#members.onPeer(listener)
  }

  noteMember(author: PeerId): void {
    this.#components.membership.noteAuthor(author)
  }

  /** Must be called when who may use the network has changed: others hear nothing on the sealed topic. */
  admissionChanged(): void {
    if (this.#state === 'running') this.#keptOut.review()
  }

  // in

  /** Messages of the sealed topic are told when they are judged; the public one's are told here. */
  readonly #onGossip = ({ detail }: CustomEvent<GossipsubMessage>): void => this.#public?.tell(detail.msg)

  /** False when a listener refuses the message. */
  readonly #tell = (message: TopicMessage): boolean => {
    if (this.#state !== 'running') return false
    let isTaken = true
    for (const listener of this.#listeners) {
      try {
        if (listener(message) === false) isTaken = false
      } catch (error) {
        this.#log.error('a listener of the gossip topic failed', { error: String(error) })
      }
    }
    return isTaken
  }

  readonly #onSubscriptions = (): void => {
    this.#changedAtMs = this.#components.clock.monotonic()
    this.#members.update()
  }

  // out

  async #send({ plaintext, nonce }: Publication, windows: readonly number[]): Promise<number> {
    const { clock } = this.#components
    const sealed = this.#sealer.seal(plaintext, this.#secrets.windowAt(clock.now()), nonce)
    this.#validator.noteOwn(sealed)
    const data = encodeEnvelope(sealed)
    const reached = new Set<string>()
    for (const window of windows) {
      const topic = this.#topicOf(window)
      const changedLately = clock.monotonic() - this.#changedAtMs < FLOOD_PUBLISH_AFTER_CHANGE_MS
      const isForming = changedLately && !this.#topology.isMeshed(topic)
      const floodPublish = isForming || this.#topology.isFew(topic)
      const { recipients } = await this.#pubsub.publish(topic, data, { floodPublish })
      for (const recipient of recipients) reached.add(recipient.toString())
    }
    return reached.size
  }

  async #publishPublic(text: string, signature: string): Promise<number> {
    const { random, clock } = this.#components
    const { current } = this.#plan()
    const nonce = random.bytes(SEAL_NONCE_BYTES)
    const sealed = this.#sealer.seal(
      new TextEncoder().encode(text),
      this.#secrets.windowAt(clock.now()),
      nonce,
    )
    const topic = this.#secrets.ofWindow(current).publicTopic
    const data = encodePublicEnvelope(sealed, signature)
    return (await this.#pubsub.publish(topic, data, { floodPublish: true })).recipients.length
  }

  // rotation

  readonly #tick = (): void => {
    this.#cancelTick()
    if (this.#state !== 'running') return
    const waitMs = this.#pubsub.isStarted() ? this.#rotate() : GOSSIP_TICK_MS
    this.#cancelTick = this.#components.clock.after(waitMs, this.#tick)
  }

  /** Does what is due by now; gives the time until the next look, in ms. */
  #rotate(): number {
    const now = this.#components.clock.now()
    const plan = this.#plan()
    this.#subscribe(plan)
    for (const publication of this.#republications.takeDue(now)) {
      this.#send(publication, [plan.current]).catch((error: unknown) => {
        this.#log.debug('not published again', { error: String(error) })
      })
    }
    this.#streams.checkAll()
    this.#members.update()
    return Math.min(GOSSIP_TICK_MS, Math.max(1, plan.changesAtMs - now))
  }

  #subscribe({ current, subscribed }: RotationPlan): void {
    const pubsub = this.#pubsub
    const near = [current - 1, current, current + 1, current + 2]
    // what peers say of other topics is not even remembered; one whose clock is ahead may speak of the next ones
    const allowed = new Set(near.flatMap((window) => this.#topicsOf(window).map(({ topic }) => topic)))
    pubsub.allowedTopics = allowed
    this.#keptOut.rotate(allowed, new Set(near.map((window) => this.#secrets.ofWindow(window).publicTopic)))
    const wanted = new Map(
      subscribed.flatMap((window) => this.#topicsOf(window)).map((each) => [each.topic, each]),
    )
    const had = new Set(pubsub.getTopics())
    for (const [topic, { reader }] of wanted) {
      if (had.has(topic)) continue
      pubsub.topicValidators.set(topic, (hop, message) => reader.judge(hop, message))
      pubsub.subscribe(topic)
      this.#changedAtMs = this.#components.clock.monotonic()
    }
    for (const topic of had) {
      if (wanted.has(topic)) continue
      pubsub.unsubscribe(topic)
      pubsub.topicValidators.delete(topic)
    }
  }

  #plan(): RotationPlan {
    return planRotation(this.#components.clock.now(), this.#secrets.intervalMs)
  }

  /** The topics of a window, each with what judges its messages. */
  #topicsOf(window: number) {
    const { topic, publicTopic } = this.#secrets.ofWindow(window)
    const sealed = { topic, reader: this.#validator }
    return this.#public === undefined ? [sealed] : [sealed, { topic: publicTopic, reader: this.#public }]
  }

  #topicOf(window: number): string {
    return this.#secrets.ofWindow(window).topic
  }
}
