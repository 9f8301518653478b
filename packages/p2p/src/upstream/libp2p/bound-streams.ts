/**
 * Finds the muxer of a connection, and bounds its streams. Those of WebRTC and QUIC come from muxers of their libraries.
 *
 * @library libp2p 3.3.11, @libp2p/utils 7.4.1
 * @wraps `Connection.muxer`, and of other muxers `createStream` and `onData` of their streams
 * @without Memory grows past its bound: streams of a connection hold what nobody reads, 4 MiB each over WebRTC.
 * @shown `muxer/unread-bytes.test.ts`, `npm run attack -- service-writers filled-behind`
 */
import type { Connection, Stream, StreamMuxer } from '@libp2p/interface'
import type { AbstractStream } from '@libp2p/utils'
import { toError } from '@mesh/core'
import { Muxer } from '../../muxer/muxer.ts'
import { MuxedStream } from '../../muxer/stream.ts'
import { StreamBounds, type StreamOwner } from '../../muxer/stream-bounds.ts'
import { openInner } from '../inner-names.ts'

type OtherMuxer = StreamMuxer<AbstractStream>

const boundsOfOthers = new WeakMap<Stream, StreamBounds>()

/** Bounds all streams of a connection. Ends the connection where the library has no such inner names. */
export function boundStreams(connection: Connection, owner: StreamOwner): void {
  try {
    const { muxer } = openInner<{ muxer: Muxer | OtherMuxer }>('libp2p 3.3.11', connection, ['muxer'])
    if (muxer instanceof Muxer) muxer.own(owner)
    else watchStreams(muxer, (stream) => boundStream(stream, owner))
  } catch (error) {
    connection.abort(toError(error))
  }
}

/** Counts bytes of a stream that its reader has passed on and that wait elsewhere, in place of what the reader holds. */
export function countElsewhere(stream: Stream, count: () => number): void {
  const bounds = stream instanceof MuxedStream ? stream.bounds : boundsOfOthers.get(stream)
  bounds?.countElsewhere(count)
}

/** Gives the number of messages that came on the connection so far; those of WebRTC are not counted. */
export function receivedOn(connection: Connection): number {
  const { muxer } = connection as Connection & { readonly muxer?: object }
  return muxer instanceof Muxer ? muxer.received : 0
}

/** Calls `watch` with each stream before anything is read of it. */
function watchStreams(muxer: OtherMuxer, watch: (stream: AbstractStream) => void): void {
  for (const stream of muxer.streams) watch(stream)
  muxer.addEventListener('stream', ({ detail }) => watch(detail))
  const createStream = muxer.createStream.bind(muxer)
  muxer.createStream = async (options) => {
    const stream = await createStream(options)
    watch(stream)
    return stream
  }
}

function boundStream(stream: AbstractStream, owner: StreamOwner): void {
  const bounds = new StreamBounds(stream)
  boundsOfOthers.set(stream, bounds)
  bounds.own(owner)
  const onData = stream.onData.bind(stream)
  const dispatchEvent = stream.dispatchEvent.bind(stream)
  const removeEventListener = stream.removeEventListener.bind(stream)
  const send = stream.send.bind(stream)
  stream.onData = (bytes) => {
    const before = stream.readBufferLength
    onData(bounds.received(bytes))
    bounds.count(stream.readBufferLength > before ? bytes : undefined)
  }
  stream.dispatchEvent = (event) => {
    if (event.type === 'message' && !bounds.mayDeliver((event as MessageEvent<Uint8Array>).data)) return true
    const result = dispatchEvent(event)
    bounds.count()
    return result
  }
  stream.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    removeEventListener(...given)
    if (given[0] === 'message') bounds.readerLeft()
  }
  stream.send = (bytes) => {
    bounds.sending()
    return send(bytes)
  }
}
