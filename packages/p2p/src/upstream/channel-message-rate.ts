/**
 * Bounds how many messages come on the data channels of a connection, those that this node opened too; who sends more than
 * any stream needs loses the connection. Each message costs an event and some memory of the library below, however short it
 * is, and @libp2p/webrtc 6.0.33 holds back nobody.
 *
 * Reaches into `Connection.muxer`, its `onRemoteStream` and `onCreateStream`, and a stream's `channel`; where they are
 * missing nothing is bounded. Without it `channel-message-rate.test.ts` fails; `npm run attack -- member-channel-messages`
 * sends such messages.
 */
import type { Connection } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { createRate, createTokenBucket } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import {
  CHANNEL_MESSAGES_BY_ADDRESS,
  CHANNEL_MESSAGES_IN_ALL,
  MEMBER_CHANNEL_MESSAGES,
  UNPROVEN_CHANNEL_MESSAGES,
} from '../limits.ts'

interface ChannelStream {
  /** The data channel of a stream of WebRTC; streams of other muxers have none. */
  readonly channel?: { addEventListener(type: 'message', listener: () => void): void }
}

interface ChannelMuxer {
  readonly peerConnection?: unknown
  onRemoteStream?: (stream: ChannelStream) => void
  onCreateStream?: (options: unknown) => ChannelStream | Promise<ChannelStream>
}

/** Takes a message of an address; false when it, or all together, sent too many. */
export type TakeMessage = (address: string) => boolean

/** The messages of the connections of one host. */
export function createChannelMessageRate(clock: Clock): TakeMessage {
  const rates = { perAddress: CHANNEL_MESSAGES_BY_ADDRESS, all: CHANNEL_MESSAGES_IN_ALL }
  const rate = createRate(rates, clock)
  return (address) => rate.take({ address })
}

interface BoundInit {
  /** Strangers send few messages. */
  readonly isTrusted: () => boolean
  readonly takeMessage: TakeMessage
  readonly clock: Clock
}

/** Ends the connection when more messages come on its data channels than may. */
export function boundChannelMessages(
  connection: Connection,
  { isTrusted, takeMessage, clock }: BoundInit,
): void {
  const { muxer } = connection as unknown as { readonly muxer?: ChannelMuxer }
  if (muxer?.peerConnection === undefined) return
  const ofStranger = createTokenBucket(UNPROVEN_CHANNEL_MESSAGES, clock)
  const ofMember = createTokenBucket(MEMBER_CHANNEL_MESSAGES, clock)
  const address = addressGroupOf(connection)
  let isOver = false
  const onMessage = () => {
    // what is on its way when the connection ends counts for nobody
    if (isOver) return
    const isAllowed = (isTrusted() || ofStranger.take()) && ofMember.take() && takeMessage(address)
    if (isAllowed) return
    isOver = true
    connection.abort(new Error('too many messages'))
  }
  const watch = ({ channel }: ChannelStream) => channel?.addEventListener('message', onMessage)
  const onRemoteStream = muxer.onRemoteStream?.bind(muxer)
  if (onRemoteStream !== undefined) {
    muxer.onRemoteStream = (stream) => {
      watch(stream)
      onRemoteStream(stream)
    }
  }
  const onCreateStream = muxer.onCreateStream?.bind(muxer)
  if (onCreateStream !== undefined) {
    muxer.onCreateStream = async (options) => {
      const stream = await onCreateStream(options)
      watch(stream)
      return stream
    }
  }
}
