/**
 * How far the other side of a stream may run ahead of what was read. js-libp2p's yamux 8.0.3 answers each frame with a
 * window update and takes the time since the last frame for the time that a whole window took; so every window grows
 * to its bound, and on a path slower than memory that is a queue which all streams of the connection wait behind.
 * Here an update goes out when half of the window is used, as Go's yamux does, and the window only doubles while half
 * of it takes no longer than 4 of the shortest round trips: it ends at what the path needs. Measured beside bulk over a path
 * of 16 Mbit/s, a message on another stream took 507 ms before (1 MiB) and takes 162 to 179 ms (256 KiB are 131 ms).
 */
import type { yamux } from '@libp2p/yamux'

export type YamuxMuxer = ReturnType<ReturnType<ReturnType<typeof yamux>>['createStreamMuxer']>
export type YamuxStream = YamuxMuxer['streams'][number]

/** The library's clock counts whole milliseconds. */
const LEAST_ROUND_TRIP_MS = 1
/** Each costs 28 bytes both ways. */
const MAX_EXTRA_PINGS = 16
const EXTRA_PING_GAP_MS = 1_000
/** Of the library's states those in which an update is only that, and neither opens the stream nor is held back. */
const FLOWING: readonly number[] = [1 /* SYN sent */, 3 /* established */]

/** The library keeps these to itself; where they are missing nothing is changed. */
interface WindowState {
  /** Bytes of the whole window. */
  readonly recvWindow?: number
  /** Bytes of it that the other side has left. */
  readonly recvWindowCapacity?: number
}

export function updateByHalfWindows(stream: YamuxStream): void {
  const window = stream as unknown as WindowState
  const update = stream.sendWindowUpdate.bind(stream)
  stream.sendWindowUpdate = () => {
    const { recvWindow = 0, recvWindowCapacity = 0 } = window
    if (FLOWING.includes(stream.state) && (recvWindow - recvWindowCapacity) * 2 < recvWindow) return
    update()
  }
}

/**
 * A ping that waited behind our own bytes, or for an end that was just starting, says nothing of the path: the shortest
 * counts. The library pings when a connection opens and every 30 s; here now and then when a stream opens, too.
 * @returns to be called with each stream that opens
 */
export function keepLeastRoundTrip(muxer: YamuxMuxer): (stream: YamuxStream) => void {
  const last = muxer.getRTT.bind(muxer)
  let least = Number.POSITIVE_INFINITY
  let pings = 0
  let pingedAt = Number.NEGATIVE_INFINITY
  muxer.getRTT = () => {
    const rttMs = last()
    // below 0: not measured yet
    if (rttMs >= 0) least = Math.min(least, Math.max(rttMs, LEAST_ROUND_TRIP_MS))
    return least === Number.POSITIVE_INFINITY ? rttMs : least
  }
  return ({ timeline }) => {
    if (pings === MAX_EXTRA_PINGS || timeline.open - pingedAt < EXTRA_PING_GAP_MS) return
    pings++
    pingedAt = timeline.open
    muxer.ping().then(
      () => muxer.getRTT(),
      () => {},
    )
  }
}
