/**
 * Yamux, the stream muxer of a connection, as a `StreamMuxerFactory` of libp2p.
 *
 * @example
 * ```ts
 * createLibp2p({ streamMuxers: [muxer(systemClock)] })
 * ```
 */
import type { StreamMuxerFactory } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { Muxer, YAMUX_PROTOCOL } from './muxer.ts'

/** Gives the muxer of connections; the clock says how much time their frames may take. */
export function muxer(clock: Clock): () => StreamMuxerFactory<Muxer> {
  return () => ({
    protocol: YAMUX_PROTOCOL,
    createStreamMuxer: (connection) => new Muxer(connection, clock),
  })
}
