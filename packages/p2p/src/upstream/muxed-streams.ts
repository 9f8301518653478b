/**
 * Sees all streams of a connection, whatever multiplexes them: those of QUIC and WebRTC come from elsewhere than yamux's.
 *
 * Reaches into `Connection.muxer`, and its `onRemoteStream` and `createStream`; where they are missing nothing is seen.
 */

interface Muxer<T> {
  onRemoteStream?: (stream: T) => void
  createStream?: (...options: readonly unknown[]) => Promise<T>
}

/**
 * Calls `watch` with each stream that is opened on a connection, before anything is read of it, and at once with those
 * that are there already: a peer may open some before this end is done with the connection.
 */
export function watchStreams<T>(connection: object, watch: (stream: T) => void): void {
  const { muxer, streams = [] } = connection as {
    readonly muxer?: Muxer<T>
    readonly streams?: readonly T[]
  }
  for (const stream of streams) watch(stream)
  const onRemoteStream = muxer?.onRemoteStream?.bind(muxer)
  const createStream = muxer?.createStream?.bind(muxer)
  if (muxer === undefined || onRemoteStream === undefined || createStream === undefined) return
  muxer.onRemoteStream = (stream) => {
    watch(stream)
    onRemoteStream(stream)
  }
  muxer.createStream = async (...options) => {
    const stream = await createStream(...options)
    watch(stream)
    return stream
  }
}
