/**
 * Opens the parts of gossipsub that the gossip topic needs: its streams, its mesh, and what it tells its peers.
 *
 * @library @libp2p/gossipsub 17.1.1
 * @wraps streams, mesh, subscriptions and the handlers of control messages
 * @without A legacy member is cut off: the library opens one outbound stream for each peer, and none again when that one dies
 * while the connection lives. Its random mesh also costs twice the copies that an agreed choice needs.
 * @shown `test/gossip-topic.test.ts`, `test/gossip-rotation.test.ts`, `test/legacy-rotation.test.ts`
 */
import type { GossipSub } from '@libp2p/gossipsub'
import type { Connection, PeerId, Stream } from '@libp2p/interface'
import type { RPC } from '@libp2p/gossipsub/message'
import type { Uint8ArrayList } from 'uint8arraylist'
import { openInner } from '../inner-names.ts'

/** The messages that are kept for peers that ask for them later. */
interface MessageCache {
  readonly msgs: ReadonlyMap<string, { readonly message: CachedMessage }>
  put(id: unknown, message: CachedMessage, validated?: boolean): boolean
  shift(): void
}

export interface CachedMessage {
  readonly data?: Uint8Array | undefined
}

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
  /** Wait to ride along with the next message to a peer. */
  readonly control: ReadonlyMap<string, unknown>
  readonly gossip: ReadonlyMap<string, unknown>
  readonly mcache: MessageCache
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
  sendRpc(peer: string, rpc: RPC): boolean
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

const NAMES = [
  'addPeer',
  'addToMesh',
  'allowedTopics',
  'control',
  'createOutboundStream',
  'decodeRpc',
  'direct',
  'gossip',
  'graftOnSubscribe',
  'handleGraft',
  'handleIHave',
  'handleIWant',
  'handlePrune',
  'handleReceivedRpc',
  'handleReceivedSubscription',
  'isStarted',
  'join',
  'mcache',
  'mesh',
  'onIncomingStream',
  'outboundInflightQueue',
  'peers',
  'removePeer',
  'sendGraft',
  'sendPrune',
  'sendRpc',
  'sendSubscriptions',
  'streamsInbound',
  'streamsOutbound',
  'topics',
] as const

/** @throws MeshError `p2p.incompatible_library` when another version of gossipsub is installed */
export const openInternals = (pubsub: GossipSub): GossipInternals =>
  openInner<GossipInternals>('@libp2p/gossipsub 17.1.1', pubsub, NAMES)
