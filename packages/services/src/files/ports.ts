/** Sharing files needs these ports from the rest of a node. */
import type { Clock, Logger, PeerId } from '@mesh/core'
import type { Announcer, ServicesLedger, ServicesNetwork } from '../ports.ts'
import type { OfferRules } from '../users/offer-rules.ts'
import type { OwnUser } from '../users/own-user.ts'

/** A stream of bounded messages between two members who proved the network's key. */
export interface FileChannel {
  readonly peer: PeerId
  /** False over a relay. */
  readonly direct: boolean
  /** `tcp tls` for a TLS connection beside libp2p's; undefined over libp2p. */
  readonly transport?: string | undefined
  /** Keeps the message until it went out; resolves when more may follow. Rejects when the channel is closed. */
  send(message: Uint8Array): Promise<void>
  /** Ends when the remote closed; throws when the stream broke or a message was over the bound. */
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

export interface FileChannels {
  handle(
    protocol: string,
    options: {
      readonly maxMessageBytes: number
      /** Number of channels of one peer at a time. */
      readonly maxPerPeer?: number
      /** Channels may come over TLS connections of their own. */
      readonly bulk?: boolean
    },
    handler: (channel: FileChannel) => Promise<void>,
  ): Promise<void>
  /** @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported` */
  open(
    peer: PeerId,
    protocol: string,
    options: {
      readonly maxMessageBytes: number
      /** May be a TLS connection of its own where one is ready. */
      readonly bulk?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<FileChannel>
}

export interface FilesNetwork extends Omit<ServicesNetwork, 'onPath'> {
  readonly channels: FileChannels
}

export interface FilesComponents {
  readonly network: FilesNetwork
  readonly ledger: ServicesLedger
  readonly announce: Announcer
  readonly user: OwnUser
  /** Undefined: every member may receive every file. */
  readonly rules?: OfferRules | undefined
  readonly clock: Clock
  readonly log: Logger
}
