/** Channels that go over the bulk path where both ends ask for it and it is ready, else over libp2p. */
import type { Clock, Logger } from '@mesh/core'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import { serveChannel } from './serve-channel.ts'
import { DEFAULT_CHANNELS_PER_PEER } from './limits.ts'
import type { ByteStream, Channel, ChannelOptions, Channels } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import type { Bulk } from '../bulk/bulk.ts'
import { createByteChannel } from './byte-channel.ts'

export interface BulkChannelsComponents {
  readonly channels: Channels
  readonly bulk: Bulk
  readonly held: HeldBytes
  readonly refusals: Refusals
  readonly clock: Clock
  readonly logger: Logger
}

export function createBulkChannels(components: BulkChannelsComponents): Channels {
  const { channels, bulk, refusals, clock, held } = components
  const log = components.logger.child('channels')

  function channelOver(stream: ByteStream, protocol: string, { maxMessageBytes }: ChannelOptions): Channel {
    const onTooLong = () => refusals.refuse('channel.message_too_long', { peer: stream.peer, protocol })
    return createByteChannel({ stream, maxMessageBytes, clock, onTooLong, held })
  }

  return {
    peersWith: channels.peersWith,
    onPeerWith: channels.onPeerWith,
    async handle(protocol, options, handler) {
      await channels.handle(protocol, options, handler)
      if (options.bulk !== true) return
      bulk.serve(protocol, {
        maxPerPeer: options.maxPerPeer ?? DEFAULT_CHANNELS_PER_PEER,
        halfClose: true,
        handle: (stream) =>
          void serveChannel(channelOver(stream, protocol, options), protocol, { handler, log }),
      })
    },
    async open(peer, protocol, options) {
      const stream = options.bulk === true ? await bulk.open(peer, protocol, { halfClose: true }) : undefined
      return stream === undefined
        ? await channels.open(peer, protocol, options)
        : channelOver(stream, protocol, options)
    },
  }
}
