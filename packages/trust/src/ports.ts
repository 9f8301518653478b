/** Trust needs these ports from the rest of a node; `apps/node` plugs p2p, the ledger and replication in. */
import type { PeerId } from '@mesh/core'
import type { KeyedEntry, Ledger } from '@mesh/ledger'

export type TrustLedger = Pick<
  Ledger,
  'self' | 'mode' | 'snapshot' | 'put' | 'delete' | 'merge' | 'withdraw' | 'subscribe' | 'admissionChanged'
>

/** A stream of bounded messages with a peer that proved the network's key. */
export interface TrustChannel {
  readonly peer: PeerId
  /** The group under which bounds by address count it; undefined where there are no addresses. */
  readonly address?: string | undefined
  send(message: Uint8Array): Promise<void>
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

interface TrustChannelOptions {
  readonly maxMessageBytes: number
  /** The number of channels of one peer at a time. */
  readonly maxPerPeer: number
  /** Peers that are kept out are served, too. */
  readonly ungated: true
}

export interface TrustChannels {
  handle(
    protocol: string,
    options: TrustChannelOptions,
    handler: (channel: TrustChannel) => Promise<void>,
  ): Promise<void>
  open(
    peer: PeerId,
    protocol: string,
    options: TrustChannelOptions & { readonly signal: AbortSignal },
  ): Promise<TrustChannel>
  peersWith(protocol: string, options: { readonly ungated: true }): readonly PeerId[]
  onPeerWith(
    protocol: string,
    listener: (peer: PeerId, present: boolean) => void,
    options: { readonly ungated: true },
  ): () => void
}

/** The topic on which peers that are kept out may speak. */
interface TrustPublicTopic {
  publish(message: { readonly text: string; readonly signature: string }): Promise<number>
  onMessage(
    listener: (message: {
      readonly author: PeerId
      readonly text: string
      readonly signature: string
    }) => void,
  ): () => void
}

/** Where decisions are told. */
export interface TrustNetwork {
  readonly channels: TrustChannels
  /** Undefined where this node is not on it. */
  readonly publicTopic: TrustPublicTopic | undefined
  /** The members on the gossip topic now. */
  topicPeers(): readonly PeerId[]
}

/** Sends entries over the topic, also those of others. */
export type PublishEntries = (entries: Iterable<KeyedEntry>) => void
