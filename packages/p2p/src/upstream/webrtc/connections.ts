/**
 * Tells a WebRTC connection that never came about, and bounds the messages that come on the data channels of a connection.
 *
 * @library @libp2p/webrtc 6.0.33, libp2p 3.3.11
 * @wraps `peerConnection.connectionState` of raw connections, `Connection.muxer`, its `onRemoteStream` and `onCreateStream`, and
 * `channel` of a stream
 * @without An honest member is cut off: the library takes the end of signalling for success, and nothing passes through the
 * connection. The API stops answering: each message costs an event, however short it is, and WebRTC has no backpressure.
 * @shown `upstream/webrtc/connections.test.ts`, `upstream/webrtc/message-rate.test.ts`, `test/phantom-webrtc.test.ts`, `npm run
 * attack -- member-channel-messages`
 */
import type { Connection, MultiaddrConnection } from '@libp2p/interface'
import { type Clock, toError } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import { addressGroupOf } from '../../addresses/address-group.ts'
import { transportOf } from '../../addresses/address-rules.ts'
import { CONNECTION_CHANNEL_MESSAGES, UNPROVEN_CHANNEL_MESSAGES } from '../limits.ts'
import { openInner } from '../inner-names.ts'

interface ChannelStream {
  readonly channel?: { addEventListener(type: 'message', listener: () => void): void }
}

interface ChannelMuxer {
  onRemoteStream(stream: ChannelStream): void
  onCreateStream(options: unknown): ChannelStream | Promise<ChannelStream>
}

/** Takes a message of a connection; false when it, its address or all together sent too many. */
export type TakeMessage = (connection: Pick<Connection, 'id' | 'remoteAddr'>, isTrusted: boolean) => boolean

/** The messages of the connections of one host. */
export function createChannelMessageRate(clock: Clock): TakeMessage {
  const [strangers, all] = [
    createRate(UNPROVEN_CHANNEL_MESSAGES, clock),
    createRate(CONNECTION_CHANNEL_MESSAGES, clock),
  ]
  return (connection, isTrusted) =>
    (isTrusted || strangers.take({ peer: connection.id })) &&
    all.take({ address: addressGroupOf(connection) })
}

interface BoundInit {
  /** Strangers send few messages. */
  readonly isTrusted: () => boolean
  readonly takeMessage: TakeMessage
}

/** Does nothing for connections of other transports. Ends the connection where the library has no such inner names. */
export function boundChannelMessages(connection: Connection, init: BoundInit): void {
  if (transportOf(connection.remoteAddr)?.startsWith('webrtc') !== true) return
  try {
    watchMuxer(connection, init)
  } catch (error) {
    connection.abort(toError(error))
  }
}

function watchMuxer(connection: Connection, { isTrusted, takeMessage }: BoundInit): void {
  const library = '@libp2p/webrtc 6.0.33'
  const { muxer: inner } = openInner<{ muxer: ChannelMuxer }>(library, connection, ['muxer'])
  const muxer = openInner<ChannelMuxer>(library, inner, ['onRemoteStream', 'onCreateStream'])
  let isOver = false
  const onMessage = () => {
    // messages behind the end count for nobody
    if (isOver || takeMessage(connection, isTrusted())) return
    isOver = true
    connection.abort(new Error('too many messages'))
  }
  const watch = ({ channel }: ChannelStream) => channel?.addEventListener('message', onMessage)
  const onRemoteStream = muxer.onRemoteStream.bind(muxer)
  const onCreateStream = muxer.onCreateStream.bind(muxer)
  muxer.onRemoteStream = (stream) => {
    watch(stream)
    onRemoteStream(stream)
  }
  muxer.onCreateStream = async (options) => {
    const stream = await onCreateStream(options)
    watch(stream)
    return stream
  }
}

/** True for a WebRTC connection whose two ends are not connected. */
export function isPhantomWebRtc(raw: MultiaddrConnection): boolean {
  if (transportOf(raw.remoteAddr) !== 'webrtc') return false
  const { peerConnection } = raw as { readonly peerConnection?: { readonly connectionState?: string } }
  return peerConnection?.connectionState !== 'connected'
}
