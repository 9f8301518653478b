/**
 * Version 3.3.11 of libp2p bounds the streams that are open at a time, by protocol, and not how many come:
 * each costs a negotiation. Here those of a peer that is not trusted are counted where the muxer hands them
 * out, before anything is read of them. It also keeps 256 KiB of each stream that nobody reads, and 4 MiB of one whose
 * reader waits for a whole message, as that of a relay does: what a peer that is not trusted brings on a stream counts
 * as an unfinished frame until the stream ends.
 *
 * Reaches into `Connection.muxer`, yamux's `onRemoteStream` and a stream's `onData` (@libp2p/yamux 8.0.3); where they are
 * missing nothing is bounded. Without it `inbound-stream-rate.test.ts` fails; `npm run attack -- windows` fills such
 * streams.
 */
import type { Connection } from '@libp2p/interface'
import { type Clock, toError } from '@mesh/core'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_REFUSED_STREAMS, UNPROVEN_STREAMS_BURST, UNPROVEN_STREAMS_PER_S } from './limits.ts'
import { FREE_STREAM_BYTES } from './limits.ts'

interface RemoteStream {
  readonly protocol?: string
  abort(error: Error): void
  addEventListener?(type: 'close', listener: () => void): void
  onData?: (bytes: { readonly byteLength: number }) => void
}

interface Muxer {
  onRemoteStream?: (stream: RemoteStream) => void
}

interface Held {
  /** Gives the function to call with how many bytes one stream holds; it throws where they are too many. */
  track(holder: {
    readonly peer: string
    readonly address: string
    readonly abort: (error: Error) => void
  }): (bytes: number) => void
}

interface BoundInit {
  /** Members may open as many as they like. */
  readonly isTrusted: () => boolean
  /** True for protocols whose readers count what they hold themselves. */
  readonly isCounted: (protocol: string) => boolean
  /** Bounds what the streams of all peers hold. */
  readonly held: Held
  readonly clock: Clock
}

/** Resets the streams that come too fast, and ends the connection of who goes on. */
export function boundInboundStreams(connection: Connection, init: BoundInit): void {
  const { isTrusted, clock } = init
  const { muxer, streams = [] } = connection as unknown as {
    readonly muxer?: Muxer
    readonly streams?: readonly RemoteStream[]
  }
  // those that came before this end was done with the connection
  for (const stream of streams) countBytes(stream, connection, init)
  const onRemoteStream = muxer?.onRemoteStream?.bind(muxer)
  if (muxer === undefined || onRemoteStream === undefined) return
  let left = UNPROVEN_STREAMS_BURST
  let atMs = clock.monotonic()
  let refused = 0
  muxer.onRemoteStream = (stream) => {
    const now = clock.monotonic()
    left = Math.min(UNPROVEN_STREAMS_BURST, left + ((now - atMs) / 1000) * UNPROVEN_STREAMS_PER_S)
    atMs = now
    if (left >= 1 || isTrusted()) {
      left = Math.max(0, left - 1)
      if (!isTrusted()) countBytes(stream, connection, init)
      return onRemoteStream(stream)
    }
    refused++
    stream.abort(new Error('too many streams'))
    if (refused > MAX_REFUSED_STREAMS) connection.abort(new Error('too many streams'))
  }
}

/** Counts what comes on a stream as held until it ends, or until its peer is trusted. */
function countBytes(
  stream: RemoteStream,
  connection: Connection,
  { isTrusted, isCounted, held }: BoundInit,
): void {
  const onData = stream.onData?.bind(stream)
  if (onData === undefined) return
  // a peer may have become a member since something came last
  const abort = (error: Error) => (isTrusted() ? hold(0) : stream.abort(error))
  const hold = held.track({
    peer: connection.remotePeer.toString(),
    address: addressGroupOf(connection),
    abort,
  })
  let bytes = 0
  stream.onData = (more) => {
    bytes += more.byteLength
    try {
      const isFree = bytes <= FREE_STREAM_BYTES || isTrusted() || isCounted(stream.protocol ?? '')
      hold(isFree ? 0 : bytes)
    } catch (error) {
      return stream.abort(toError(error))
    }
    onData(more)
  }
  stream.addEventListener?.('close', () => hold(0))
}
