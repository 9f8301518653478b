/**
 * What libp2p calls `negotiateFully: false` and js-libp2p 3 does not do: the protocol's name goes out with the first
 * bytes, and the answer is read when it comes. Without it a stream for each packet costs a round trip for each packet.
 * Built on what libp2p lets a muxer do: to hand out a stream whose `protocol` is set already.
 */
import {
  type Stream,
  type StreamMuxer,
  type StreamMuxerFactory,
  UnsupportedProtocolError,
} from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'

const MULTISTREAM = '/multistream/1.0.0'
/** Its length fits a byte then. */
const MAX_LINE_BYTES = 0x7f

/** Streams of libp2p's own muxers take what came for them by this method. */
type MuxedStream = Stream & { onData(data: Uint8Array | Uint8ArrayList): void }

/** Adds it to the muxers that `build` makes; their streams are asked for it one by one. */
export function withLazyNegotiation<C>(
  build: (components: C) => StreamMuxerFactory,
): (components: C) => StreamMuxerFactory {
  return (components) => {
    const factory = build(components)
    const createMuxer = factory.createStreamMuxer.bind(factory)
    factory.createStreamMuxer = (connection) => {
      const muxer = createMuxer(connection)
      const createStream = muxer.createStream.bind(muxer)
      muxer.createStream = async (
        options: Parameters<StreamMuxer['createStream']>[0] & { negotiateFully?: boolean },
      ) => {
        const stream = await createStream(options)
        const { protocol, negotiateFully } = options ?? {}
        if (negotiateFully === false && protocol !== undefined && protocol.length < MAX_LINE_BYTES) {
          beginLazily(stream as MuxedStream, protocol)
        }
        return stream
      }
      return muxer
    }
    return factory
  }
}

/** Sending nothing sends the protocol's name, if that has not gone out yet. */
function beginLazily(stream: MuxedStream, protocol: string): void {
  const negotiation = Uint8Array.from([...encodeLine(MULTISTREAM), ...encodeLine(protocol)])
  stream.protocol = protocol

  const send = stream.send.bind(stream)
  let isNamed = false
  stream.send = (bytes) => {
    if (isNamed) return send(bytes)
    isNamed = true
    return send(new Uint8ArrayList(negotiation, bytes))
  }

  // before the stream's own buffer: it must be read while the stream is paused, too
  const onData = stream.onData.bind(stream)
  const answer = new Uint8ArrayList()
  stream.onData = (bytes) => {
    answer.append(bytes)
    const length = Math.min(answer.byteLength, negotiation.byteLength)
    if (!equal(answer.subarray(0, length), negotiation.subarray(0, length))) {
      return stream.abort(new UnsupportedProtocolError(`the peer does not speak ${protocol}`))
    }
    if (length < negotiation.byteLength) return
    stream.onData = onData
    onData(answer.sublist(length))
  }
}

function encodeLine(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(`${text}\n`)
  return Uint8Array.from([bytes.byteLength, ...bytes])
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, index) => byte === b[index])
}
