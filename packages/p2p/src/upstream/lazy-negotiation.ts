/**
 * Does what libp2p calls `negotiateFully: false` and libp2p 3.3.11 does not do: the protocol's name goes out
 * with the first bytes, and the answer is read when it comes. Without it a stream for each packet costs a
 * round trip for each packet. It is built on what libp2p lets a muxer do: to hand out a stream whose
 * `protocol` is set already.
 *
 * Upstream: libp2p/js-libp2p issue 2029 asks for it, pull request 2331 added the option, and the streams of version 3
 * ignore it; libp2p/specs issue 643 has what to heed. Without it `test/legacy-streams.test.ts` (the stream 'is
 * open before the peer has answered') fails.
 */
import { UnsupportedProtocolError } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import type { YamuxStream } from './receive-window.ts'

const MULTISTREAM = '/multistream/1.0.0'
/** The longest line whose length fits a byte. */
const MAX_LINE_BYTES = 0x7f

/**
 * Begins to speak a protocol on a new stream. Sending nothing sends the protocol's name, if that has not gone out yet;
 * too long a name is negotiated fully.
 */
export function beginLazily(stream: YamuxStream, protocol: string | undefined): void {
  if (protocol === undefined || protocol.length >= MAX_LINE_BYTES) return
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
  let isAnswered = false
  // stays in place: what bounds the stream's bytes may stand before it by the time of the answer
  stream.onData = (bytes) => {
    if (isAnswered) return onData(bytes)
    answer.append(bytes)
    const length = Math.min(answer.byteLength, negotiation.byteLength)
    if (!equal(answer.subarray(0, length), negotiation.subarray(0, length))) {
      return stream.abort(new UnsupportedProtocolError(`the peer does not speak ${protocol}`))
    }
    if (length < negotiation.byteLength) return
    isAnswered = true
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
