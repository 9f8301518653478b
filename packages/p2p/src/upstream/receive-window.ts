/**
 * How far the other side of a stream may run ahead of what was read. An update goes out when half of the window is
 * used, as go-yamux does it, and the window only doubles while half of it takes no longer than 4 of the shortest round
 * trips: it ends at what the path needs.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/yamux 8.0.3 sends a window update for each data frame, and takes
 * the time since the last frame for the time that a whole window took. So every receive window grows to
 * maxStreamWindowSize, and on a path slower than memory that is a queue behind which all streams of the connection
 * wait. go-yamux (pull request 53) updates when half of the window is used.' Pinned: @libp2p/yamux 8.0.3. Without it
 * `receive-window.test.ts` fails; `bench/measure-streams.ts` measures what it brings: the time of a message beside bulk
 * on the same connection.
 */
import type { yamux } from '@libp2p/yamux'

export type YamuxMuxer = ReturnType<ReturnType<ReturnType<typeof yamux>>['createStreamMuxer']>
export type YamuxStream = YamuxMuxer['streams'][number]

/** The least round trip that is believed, in ms: the library's clock counts whole milliseconds. */
const LEAST_ROUND_TRIP_MS = 1
/** The most pings beside the library's own; each costs 28 bytes both ways. */
const MAX_EXTRA_PINGS = 16
const EXTRA_PING_GAP_MS = 1_000
/** The library's states in which an update is only that, and neither opens the stream nor is held back. */
const FLOWING: readonly number[] = [1 /* SYN sent */, 3 /* established */]

/** The fields that the library keeps to itself; where it is missing nothing is changed. */
interface WindowState {
  /** The size of the whole window, in bytes. */
  readonly recvWindow?: number
  /** How many bytes of it the other side has left. */
  readonly recvWindowCapacity?: number
}

/** Sends window updates when half of the window is used. */
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
 * Makes the muxer believe the shortest round trip: a ping that waited behind our own bytes, or for an end that was just
 * starting, says nothing of the path. The library pings when a connection opens and every 30 s; here now and then when
 * a stream opens, too. Gives the function to be called with each stream that opens.
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
