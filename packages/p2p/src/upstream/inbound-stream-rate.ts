/**
 * Version 3.3.11 of libp2p bounds the streams that are open at a time, by protocol, and not how many come:
 * each costs a negotiation. Here those of a peer that is not trusted are counted where the muxer hands them
 * out, before anything is read of them.
 *
 * Reaches into `Connection.muxer` and yamux's `onRemoteStream` (@libp2p/yamux 8.0.3); where they are missing nothing is
 * bounded. Without it `inbound-stream-rate.test.ts` fails; `pnpm attack` opens such streams.
 */
import type { Connection } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { MAX_REFUSED_STREAMS, UNPROVEN_STREAMS_BURST, UNPROVEN_STREAMS_PER_S } from '../limits.ts'

interface RemoteStream {
  abort(error: Error): void
}

interface Muxer {
  onRemoteStream?: (stream: RemoteStream) => void
}

interface BoundInit {
  /** Members may open as many as they like. */
  readonly isTrusted: () => boolean
  readonly clock: Clock
}

/** Resets the streams that come too fast, and ends the connection of who goes on. */
export function boundInboundStreams(connection: Connection, { isTrusted, clock }: BoundInit): void {
  const { muxer } = connection as unknown as { readonly muxer?: Muxer }
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
      return onRemoteStream(stream)
    }
    refused++
    stream.abort(new Error('too many streams'))
    if (refused > MAX_REFUSED_STREAMS) connection.abort(new Error('too many streams'))
  }
}
