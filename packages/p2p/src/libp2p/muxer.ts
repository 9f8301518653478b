/** The yamux muxer as this package runs it. */
import type { StreamMuxerFactory } from '@libp2p/interface'
import { yamux } from '@libp2p/yamux'
import { type Clock, LoopTurns } from '@mesh/core'
import {
  FRAMES_TURN_MS,
  MAX_EARLY_STREAMS,
  STREAM_WINDOW_BYTES,
  STREAM_WRITE_BUFFER_BYTES,
} from './limits.ts'
import { freeSentBlocks } from '../upstream/freed-blocks.ts'
import { joinWrites } from '../upstream/joined-writes.ts'
import { beginLazily } from '../upstream/lazy-negotiation.ts'
import { boundMessages } from '../upstream/message-bounds.ts'
import { sendWhileOpen } from '../upstream/muxer-closed-sends.ts'
import { drainOneByOne } from '../upstream/muxer-drain.ts'
import { endWithOther } from '../upstream/muxer-goodbyes.ts'
import { readInPieces } from '../upstream/muxer-frames.ts'
import { boundMuxerPings } from '../upstream/muxer-pings.ts'
import { handleInTurns } from '../upstream/muxer-turns.ts'
import { boundAnswers } from '../upstream/negotiation-answers.ts'
import {
  keepLeastRoundTrip,
  updateByHalfWindows,
  type YamuxMuxer,
  type YamuxStream,
} from '../upstream/receive-window.ts'

type CreateOptions = Parameters<YamuxMuxer['createStream']>[0] & { readonly negotiateFully?: boolean }

export function muxer(clock: Clock): () => StreamMuxerFactory {
  const build = yamux({
    maxEarlyStreams: MAX_EARLY_STREAMS,
    streamOptions: {
      maxStreamWindowSize: STREAM_WINDOW_BYTES,
      maxWriteBufferLength: STREAM_WRITE_BUFFER_BYTES,
    },
  })
  const turns = new LoopTurns(FRAMES_TURN_MS, clock)
  return () => {
    const factory = build()
    const createMuxer = factory.createStreamMuxer.bind(factory)
    factory.createStreamMuxer = (connection) => {
      freeSentBlocks(connection)
      joinWrites(connection)
      const made = createMuxer(connection)
      sendWhileOpen(made)
      boundMuxerPings(made, clock)
      readInPieces(made)
      endWithOther(made, clock)
      handleInTurns(made, turns)
      return prepare(made)
    }
    return factory
  }
}

/** Overrides what libp2p calls on a muxer of its own making. */
function prepare(made: YamuxMuxer): YamuxMuxer {
  const ping = keepLeastRoundTrip(made)
  const drain = drainOneByOne(made)
  const watch = (stream: YamuxStream) => {
    updateByHalfWindows(stream)
    boundMessages(stream)
    drain(stream)
    ping(stream)
  }
  const createStream = made.createStream.bind(made)
  made.createStream = async (options: CreateOptions) => {
    const stream = await createStream(options)
    watch(stream)
    if (options?.negotiateFully === false) beginLazily(stream, options.protocol)
    return stream
  }
  const onRemoteStream = made.onRemoteStream.bind(made)
  made.onRemoteStream = (stream) => {
    watch(stream)
    boundAnswers(stream, () => stream.protocol !== '')
    onRemoteStream(stream)
  }
  return made
}
