/**
 * Replication needs these ports from the network; `@mesh/p2p`'s `P2pNode` fits it, and so does the
 * simulation.
 */
import type { PeerId } from '@mesh/core'

export interface TopicMessage {
  readonly author: PeerId
  readonly plaintext: Uint8Array
  /** The peer that passed it on. */
  readonly from: string
}

export interface ReplicationTopic {
  publish(plaintext: Uint8Array): Promise<number>
  /** A listener that gives false refuses the message, which is not passed on then. */
  onMessage(listener: (message: TopicMessage) => unknown): () => void
  /** Says that the author of a message showed that it is a member. */
  noteMember(author: PeerId): void
  peers(): readonly PeerId[]
}

export interface ReplicationChannel {
  readonly peer: PeerId
  /** The group under which bounds by address count it; undefined where there are no addresses. */
  readonly address?: string | undefined
  send(message: Uint8Array): Promise<void>
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

export interface ReplicationChannels {
  handle(
    protocol: string,
    options: {
      readonly maxMessageBytes: number
      /** Number of inbound channels of one peer at a time; more are reset. */
      readonly maxPerPeer?: number
    },
    handler: (channel: ReplicationChannel) => Promise<void>,
  ): Promise<void>
  open(
    peer: PeerId,
    protocol: string,
    options: { readonly maxMessageBytes: number; readonly signal?: AbortSignal },
  ): Promise<ReplicationChannel>
  peersWith(protocol: string): readonly PeerId[]
  onPeerWith(protocol: string, listener: (peer: PeerId, present: boolean) => void): () => void
}
