/**
 * The parts of gossipsub behind its public face that the gossip topic needs: streams, mesh, and what it tells its
 * peers.
 *
 * The defects: gossipsub opens one outbound stream for each peer, and never again when it dies on one side while the
 * connection lives, as when a legacy node rebuilds its gossip (docs/WIRE.md 3.3); and it picks its mesh at random,
 * which costs twice the copies that an agreed choice needs. Neither can be repaired by its options or events.
 * Upstream: libp2p/js-libp2p pull request 3531 takes streams that closed out of the registry, and leaves those that
 * close while their connection stays open for later; ChainSafe/js-libp2p-gossipsub issue 456 has the same.
 * Pinned: @libp2p/gossipsub 17.1.1; `openInternals` checks that all names are there. The repair is
 * covered by `test/gossip-topic.test.ts`, `test/gossip-rotation.test.ts` and `test/legacy-rotation.test.ts`.
 */
import type { GossipSub } from '@libp2p/gossipsub'
import type { Connection, PeerId, Stream } from '@libp2p/interface'
import { MeshError } from '@mesh/core'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface GossipInternals extends Omit<GossipSub, 'publish'> {
  readonly peers: Map<string, PeerId>
  readonly streamsInbound: Map<string, { close(): Promise<void> }>
  readonly streamsOutbound: Map<
    string,
    { readonly rawStream: Stream; pushPrefixed(frame: Uint8ArrayList): void }
  >
  readonly outboundInflightQueue: {
    push(item: { readonly peerId: PeerId; readonly connection: Connection }): void
  }
  /** Peers that get every message, outside the mesh. */
  readonly direct: Set<string>
  readonly mesh: Map<string, Set<string>>
  /** Who is subscribed to each topic. */
  readonly topics: Map<string, Set<string>>
  /** Topics that anything is kept of; null would be all. */
  allowedTopics: Set<string> | null

  isStarted(): boolean
  publish(
    topic: string,
    data: Uint8Array,
    options: { readonly floodPublish: boolean },
  ): Promise<{ readonly recipients: readonly PeerId[] }>
  addPeer(peerId: PeerId, direction: 'inbound' | 'outbound', address: Connection['remoteAddr']): void
  removePeer(peerId: PeerId): void
  onIncomingStream(stream: Stream, connection: Connection): void
  createOutboundStream(peerId: PeerId, connection: Connection): Promise<void>
  decodeRpc(bytes: Uint8Array): unknown
  handleReceivedRpc(from: PeerId, rpc: unknown): Promise<void>
  /** False where the subscription is not counted, after which nothing more is done about it. */
  handleReceivedSubscription(from: PeerId, topic: string, subscribe: boolean): boolean
  sendSubscriptions(peer: string, topics: readonly string[], subscribe: boolean): void
  sendGraft(peer: string, topics: readonly string[]): void
  addToMesh(peer: string, topic: string, reason: string): void
  /** Tells the peer not to come back for `unsubcribeBackoff`. */
  sendPrune(peer: string, topic: string): Promise<void>
  join(topic: string): void
  graftOnSubscribe(peer: string, topic: string): boolean
  handleGraft(peer: string, graft: readonly { readonly topicID?: string }[]): Promise<unknown>
  handlePrune(
    peer: string,
    prune: readonly { readonly topicID?: string; readonly peers?: readonly unknown[] }[],
  ): Promise<void>
  handleIHave(
    peer: string,
    ihave: readonly { readonly topicID?: string }[],
  ): readonly { readonly messageIDs: readonly Uint8Array[] }[]
  /** Gives the messages that the peer asked for and is given. */
  handleIWant(peer: string, iwant: readonly unknown[]): readonly { readonly topic: string }[]
}

const METHODS = [
  'isStarted',
  'addPeer',
  'removePeer',
  'onIncomingStream',
  'createOutboundStream',
  'decodeRpc',
  'handleReceivedRpc',
  'sendSubscriptions',
  'sendGraft',
  'addToMesh',
  'sendPrune',
  'join',
  'handleGraft',
  'handlePrune',
  'graftOnSubscribe',
  'handleIHave',
  'handleIWant',
  'handleReceivedSubscription',
] as const
const COLLECTIONS = ['peers', 'streamsInbound', 'streamsOutbound', 'direct', 'mesh', 'topics'] as const

/** @throws MeshError `p2p.incompatible_library` when another version of gossipsub is installed */
export function openInternals(pubsub: GossipSub): GossipInternals {
  const internals = pubsub as unknown as GossipInternals
  const missing = [
    ...METHODS.filter((name) => typeof internals[name] !== 'function'),
    ...COLLECTIONS.filter((name) => typeof internals[name]?.has !== 'function'),
    ...(typeof internals.outboundInflightQueue?.push === 'function' ? [] : ['outboundInflightQueue']),
    ...('allowedTopics' in internals ? [] : ['allowedTopics']),
  ]
  if (missing.length === 0) return internals
  throw new MeshError('p2p.incompatible_library', 'this version of gossipsub does not fit', {
    details: { missing },
    hint: 'Install @libp2p/gossipsub 17.1.1.',
  })
}
