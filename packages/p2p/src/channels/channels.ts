/** Channels of own protocols, between members only: bounded messages over the streams of `member-streams.ts`. */
import type { Clock, Logger } from '@mesh/core'
import { DEFAULT_CHANNELS_PER_PEER } from './limits.ts'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import type { Membership } from '../membership/membership.ts'
import type { Channel, ChannelOptions, Channels } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { Refusals } from '../refusals.ts'
import type { MemberStream, MemberStreams } from '../streams/member-streams.ts'
import { createChannel } from './channel.ts'
import { createPresence } from './presence.ts'
import { serveChannel } from './serve-channel.ts'

interface ChannelsComponents {
  readonly streams: MemberStreams
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

export function createChannels(components: ChannelsComponents): ChannelService {
  const { streams, membership, spoken, clock, refusals, held } = components
  const log = components.logger.child('channels')
  const presence = createPresence({ membership, spoken })
  const ungated = createPresence({ membership: membership.ungated, spoken })

  function channelOver(
    { stream, connection, peer }: MemberStream,
    { maxMessageBytes }: ChannelOptions,
  ): Channel {
    const onTooLong = () => refusals.refuse('channel.message_too_long', { peer, protocol: stream.protocol })
    return createChannel({ stream, connection, peer, maxMessageBytes, clock, onTooLong, held })
  }

  return {
    async handle(protocol, options, handler) {
      const { maxPerPeer = DEFAULT_CHANNELS_PER_PEER } = options
      const rules = { from: 'proven', relayed: true, maxPerPeer, ungated: options.ungated } as const
      const serve = (inbound: MemberStream) =>
        serveChannel(channelOver(inbound, options), protocol, { handler, log })
      await streams.serve(protocol, rules, (inbound) => void serve(inbound))
    },
    async open(peer, protocol, { signal, ...options }) {
      const rules = { from: 'proven', relayed: true, ungated: options.ungated } as const
      return channelOver(await streams.open(peer, protocol, { ...rules, signal }), options)
    },
    peersWith: (protocol, options) => (options?.ungated === true ? ungated : presence).peersWith(protocol),
    onPeerWith: (protocol, listener, options) =>
      (options?.ungated === true ? ungated : presence).onPeerWith(protocol, listener),
    stop() {
      presence.stop()
      ungated.stop()
    },
  }
}
