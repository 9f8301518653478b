/** Channels of own protocols, between members only: bounded messages over byte streams. */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import type { Membership } from '../membership/membership.ts'
import type { ByteStream, ByteStreams, Channel, ChannelOptions, Channels } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { Refusals } from '../refusals.ts'
import { createByteChannel } from './byte-channel.ts'
import { DEFAULT_CHANNELS_PER_PEER } from './limits.ts'
import { createPresence } from './presence.ts'

interface ChannelsComponents {
  readonly streams: ByteStreams
  readonly membership: Membership
  readonly held: HeldBytes
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly refusals: Refusals
  readonly logger: Logger
}

/** `Channels` that can be stopped; the channels themselves end with their streams. */
export interface ChannelService extends Channels {
  stop(): void
}

/** Each direction of a channel ends for itself. */
const RULES = { from: 'proven', relayed: true, halfClose: true } as const

export function createChannels(components: ChannelsComponents): ChannelService {
  const { streams, membership, spoken, clock, refusals, held } = components
  const log = components.logger.child('channels')
  const presence = createPresence({ membership, spoken })
  const ungated = createPresence({ membership: membership.ungated, spoken })

  function channelOver(stream: ByteStream, protocol: string, { maxMessageBytes }: ChannelOptions): Channel {
    const onTooLong = () => refusals.refuse('channel.message_too_long', { peer: stream.peer, protocol })
    return createByteChannel({ stream, maxMessageBytes, clock, onTooLong, held })
  }

  /** Runs a handler on a channel that came in, and ends the channel with it. Never rejects. */
  async function serve(channel: Channel, protocol: string, handler: (channel: Channel) => Promise<void>) {
    try {
      await handler(channel)
      await channel.close()
    } catch (error) {
      log.debug('channel ended with an error', { peer: channel.peer, protocol, error: String(error) })
      channel.abort(toError(error))
    }
  }

  return {
    async handle(protocol, options, handler) {
      const { maxPerPeer = DEFAULT_CHANNELS_PER_PEER } = options
      await streams.handle(
        protocol,
        { ...RULES, ...options, maxPerPeer },
        (stream) => void serve(channelOver(stream, protocol, options), protocol, handler),
      )
    },
    open: async (peer, protocol, options) =>
      channelOver(await streams.open(peer, protocol, { ...RULES, ...options }), protocol, options),
    peersWith: (protocol, options) => (options?.ungated === true ? ungated : presence).peersWith(protocol),
    onPeerWith: (protocol, listener, options) =>
      (options?.ungated === true ? ungated : presence).onPeerWith(protocol, listener),
    stop() {
      presence.stop()
      ungated.stop()
    },
  }
}
