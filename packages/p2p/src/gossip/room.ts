/**
 * The network's sealed gossip topic, and its rotation.
 * Out: 1 seal with the current window's key, 2 publish on its topic, for a while on the previous one too, 3 repeat
 * what a boundary may have swallowed.
 * In: 1 signature (gossipsub), 2 author, envelope and seal, 3 pass on, 4 tell listeners once.
 */
import { type GossipSub, type GossipsubMessage, type Message, TopicValidatorResult } from '@libp2p/gossipsub'
import type { Libp2p, PeerId as Libp2pPeerId } from '@libp2p/interface'
import { type Clock, type Logger, MeshError, type PeerId, type Random, tryParsePeerId } from '@mesh/core'
import {
  createNetworkSecrets,
  createSealer,
  type NetworkConfig,
  portableSealCipher,
  SEAL_NONCE_BYTES,
  type SealCipher,
  sealedLength,
} from '@mesh/network'
import {
  FLOOD_PUBLISH_SETTLE_MS,
  MAX_REMEMBERED_ENVELOPES,
  ROOM_OVERHEAD_BYTES,
  ROOM_TICK_MS,
} from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { Room, RoomMessage } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { Refusals } from '../refusals.ts'
import { openInternals } from '../upstream/gossipsub-internals.ts'
import { decodeEnvelope, encodeEnvelope } from './envelope.ts'
import { createGossipStreams } from './gossip-streams.ts'
import { maxFrameBytes } from './gossipsub-settings.ts'
import { createPublications, type Publication } from './publications.ts'
import { overlapOf, planRotation, type RotationPlan } from './rotation.ts'
import { createMeshCare } from './topology.ts'

export interface RoomComponents {
  /** With gossipsub set as `gossipsubSettings` says. */
  readonly libp2p: Libp2p<{ readonly pubsub: GossipSub }>
  readonly membership: Membership
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly random: Random
  readonly refusals: Refusals
  readonly logger: Logger
  /** Default: one that runs everywhere. */
  readonly cipher?: SealCipher
}

/** `Room` with a life; start it before or after libp2p. */
export interface RoomService extends Room {
  start(): Promise<void>
  stop(): Promise<void>
}

/** @throws MeshError `p2p.incompatible_library` when gossipsub is another version than this is made for */
export function createRoom(
  init: { readonly config: NetworkConfig; readonly self: PeerId },
  components: RoomComponents,
): RoomService {
  const { config, self } = init
  const { libp2p, membership, clock, random, refusals, cipher = portableSealCipher } = components
  const log = components.logger.child('room')
  const pubsub = openInternals(libp2p.services.pubsub)
  const secrets = createNetworkSecrets(config)
  const sealer = createSealer(secrets, cipher)
  const { intervalMs } = secrets
  const publications = createPublications(intervalMs, overlapOf(intervalMs))
  const streams = createGossipStreams({ maxFrameBytes: maxFrameBytes(config) }, { ...components, pubsub })
  const care = createMeshCare({ ...components, self, pubsub })

  const listeners = new Set<(message: RoomMessage) => void>()
  const peerListeners = new Set<(peer: PeerId, present: boolean) => void>()
  /** Opened by the validator, told when gossipsub hands the message out. */
  const opened = new WeakMap<Message, RoomMessage & { readonly id: string }>()
  const seen = createRecent(MAX_REMEMBERED_ENVELOPES)
  let pending: RoomMessage[] = []
  let present = new Set<PeerId>()
  let changedAtMs = Number.NEGATIVE_INFINITY
  let cancelTick = () => {}
  let state: 'made' | 'running' | 'stopped' = 'made'

  const topicOf = (window: number) => secrets.ofWindow(window).topic

  // in

  function judge(hop: Libp2pPeerId, message: Message): TopicValidatorResult {
    const refuse = (code: RefusalCode) => {
      refusals.refuse(code, { peer: hop.toString() })
      return TopicValidatorResult.Ignore
    }
    const author = message.type === 'signed' ? tryParsePeerId(message.from.toString()) : undefined
    if (author === undefined) return refuse('room.bad_author')
    if (message.data.length > config.maxMessageBytes) return refuse('room.too_long')
    const sealed = decodeEnvelope(message.data)
    if (sealed === undefined) return refuse('room.bad_envelope')
    const unsealed = sealer.unseal(sealed, clock.now())
    if (unsealed === undefined) return refuse('room.bad_seal')
    const nonce = sealed.slice(0, SEAL_NONCE_BYTES * 2).toLowerCase()
    opened.set(message, { author, plaintext: unsealed.plaintext, id: `${author}/${nonce}` })
    return TopicValidatorResult.Accept
  }

  const onGossip = ({ detail }: CustomEvent<GossipsubMessage>) => {
    const message = opened.get(detail.msg)
    if (message === undefined || message.author === self || !seen.add(message.id)) return
    // told after gossipsub has passed the message on: who waits behind us comes first
    if (pending.length === 0) clock.after(0, tell)
    pending.push({ author: message.author, plaintext: message.plaintext })
  }

  function tell(): void {
    const messages = pending
    pending = []
    if (state !== 'running') return
    for (const message of messages) {
      membership.noteAuthor(message.author)
      for (const listener of listeners) {
        try {
          listener(message)
        } catch (error) {
          log.error('a listener of the room failed', { error: String(error) })
        }
      }
    }
    updatePeers()
  }

  // out

  async function send({ plaintext, nonce }: Publication, windows: readonly number[]): Promise<number> {
    const current = secrets.windowAt(clock.now())
    const data = encodeEnvelope(sealer.seal(plaintext, current, nonce))
    const reached = new Set<string>()
    for (const window of windows) {
      const topic = topicOf(window)
      const settling = clock.now() - changedAtMs < FLOOD_PUBLISH_SETTLE_MS
      const { recipients } = await pubsub.publish(topic, data, {
        floodPublish: settling || care.isFew(topic),
      })
      for (const recipient of recipients) reached.add(recipient.toString())
    }
    return reached.size
  }

  // rotation

  function tick(): void {
    cancelTick()
    if (state !== 'running') return
    const now = clock.now()
    let wait = ROOM_TICK_MS
    if (pubsub.isStarted()) {
      const plan = planRotation(now, intervalMs)
      rotateTo(plan)
      wait = Math.min(wait, Math.max(1, plan.changesAtMs - now))
      for (const publication of publications.takeDue(now)) {
        send(publication, [plan.current]).catch((error: unknown) => {
          log.debug('not published again', { error: String(error) })
        })
      }
      streams.checkAll()
      updatePeers()
    }
    cancelTick = clock.after(wait, tick)
  }

  function rotateTo({ current, subscribed }: RotationPlan): void {
    const near = [current - 1, current, current + 1, current + 2].map(topicOf)
    // what peers say of other topics is not even remembered; one whose clock is ahead may speak of the next ones
    pubsub.allowedTopics = new Set(near)
    const wanted = new Set(subscribed.map(topicOf))
    const had = new Set(pubsub.getTopics())
    for (const topic of wanted) {
      if (had.has(topic)) continue
      pubsub.topicValidators.set(topic, judge)
      pubsub.subscribe(topic)
      changedAtMs = clock.now()
    }
    for (const topic of had) {
      if (wanted.has(topic)) continue
      pubsub.unsubscribe(topic)
      pubsub.topicValidators.delete(topic)
    }
  }

  // peers

  function currentPeers(): Set<PeerId> {
    const peers = new Set<PeerId>()
    for (const window of planRotation(clock.now(), intervalMs).published) {
      for (const subscriber of pubsub.getSubscribers(topicOf(window))) {
        const peer = tryParsePeerId(subscriber.toString())
        if (peer !== undefined && membership.isMember(peer)) peers.add(peer)
      }
    }
    return peers
  }

  function updatePeers(): void {
    const now = currentPeers()
    const came = [...now].filter((peer) => !present.has(peer))
    const went = [...present].filter((peer) => !now.has(peer))
    present = now
    for (const listener of peerListeners) {
      for (const peer of came) listener(peer, true)
      for (const peer of went) listener(peer, false)
    }
  }

  const onSubscriptions = () => {
    changedAtMs = clock.now()
    updatePeers()
  }
  let stopMembership = () => {}

  return {
    async start() {
      if (state !== 'made') return
      state = 'running'
      pubsub.addEventListener('gossipsub:message', onGossip)
      pubsub.addEventListener('subscription-change', onSubscriptions)
      libp2p.addEventListener('start', tick)
      stopMembership = membership.onChange(updatePeers)
      care.start()
      await streams.start()
      tick()
    },
    async stop() {
      if (state === 'stopped') return
      state = 'stopped'
      cancelTick()
      pubsub.removeEventListener('gossipsub:message', onGossip)
      pubsub.removeEventListener('subscription-change', onSubscriptions)
      libp2p.removeEventListener('start', tick)
      stopMembership()
      care.stop()
      streams.stop()
      listeners.clear()
      peerListeners.clear()
    },
    async publish(plaintext) {
      if (state !== 'running' || !pubsub.isStarted()) {
        throw new MeshError('p2p.not_started', 'the room is not open')
      }
      const length = sealedLength(plaintext.length) + ROOM_OVERHEAD_BYTES
      if (length > config.maxMessageBytes) {
        throw new MeshError('p2p.message_too_long', 'the message is longer than the network allows', {
          details: { bytes: length, limit: config.maxMessageBytes },
        })
      }
      const nonce = random.bytes(SEAL_NONCE_BYTES)
      const publication = { plaintext, nonce, atMs: clock.now() }
      publications.note(publication)
      return await send(publication, planRotation(clock.now(), intervalMs).published)
    },
    onMessage(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    peers: () => [...currentPeers()],
    onPeer(listener) {
      peerListeners.add(listener)
      return () => peerListeners.delete(listener)
    },
  }
}

/** Remembers the last so many texts. */
function createRecent(limit: number): { add(text: string): boolean } {
  const texts = new Set<string>()
  return {
    add(text) {
      if (texts.has(text)) return false
      texts.add(text)
      const [oldest] = texts
      if (texts.size > limit && oldest !== undefined) texts.delete(oldest)
      return true
    },
  }
}
