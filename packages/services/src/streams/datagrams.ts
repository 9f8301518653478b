/** Datagrams over a stream, each with its length ahead. What does not go out at once is dropped, as UDP does. */
import type { Clock } from '@mesh/core'
import { MAX_DATAGRAM_BYTES, MAX_DATAGRAMS_AT_ONCE, UDP_IDLE_MS } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { createFrameReader, encodeFrame } from './frames.ts'
import type { Traffic } from './splice.ts'

export interface DatagramPipe {
  /** Sends one datagram; false when it was dropped. */
  send(datagram: Uint8Array): boolean
  /** Ends the stream of datagrams. */
  close(): void
}

export interface DatagramPipeInit {
  /** Bytes that came from the stream before it was joined. */
  readonly head: Uint8Array
  readonly traffic: Traffic
  readonly onDatagram: (datagram: Uint8Array) => void
  /** Called once, with the error that broke the session; one that ends because it was idle has none. */
  readonly onDone: (error: Error | undefined) => void
  readonly clock: Clock
}

export function pipeDatagrams(stream: ByteStream, init: DatagramPipeInit): DatagramPipe {
  const { traffic, clock } = init
  let isBlocked = false
  let isDone = false
  let activeAt = clock.monotonic()
  let cancel = () => {}

  const done = (error: Error | undefined) => {
    if (isDone) return
    isDone = true
    cancel()
    init.onDone(error)
  }
  const close = () => {
    stream.close()
    done(undefined)
  }
  const look = () => {
    const idleMs = clock.monotonic() - activeAt
    if (idleMs >= UDP_IDLE_MS) close()
    else cancel = clock.after(UDP_IDLE_MS - idleMs, look)
  }

  /** The number of datagrams in the bytes that are being read. */
  let atOnce = 0
  const read = createFrameReader(MAX_DATAGRAM_BYTES, (datagram) => {
    // one may have no byte, so that 64 KiB would hold as many system calls
    if (isDone || ++atOnce > MAX_DATAGRAMS_AT_ONCE) return
    activeAt = clock.monotonic()
    traffic.bytesIn += datagram.byteLength
    init.onDatagram(datagram)
  })
  const take = (bytes: Uint8Array) => {
    atOnce = 0
    if (!read(bytes)) stream.abort(new Error('a datagram over the bound'))
  }
  stream.onDrain(() => {
    isBlocked = false
  })
  stream.onEnd(done)
  stream.onRemoteEnd(close)
  if (init.head.byteLength > 0) take(init.head)
  stream.onBytes(take)
  stream.resume()
  look()
  return {
    send(datagram) {
      if (isBlocked || isDone) return false
      activeAt = clock.monotonic()
      traffic.bytesOut += datagram.byteLength
      isBlocked = !stream.send(encodeFrame(datagram))
      return true
    },
    close,
  }
}
