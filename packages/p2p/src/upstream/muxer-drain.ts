/**
 * Which streams go on when their connection has room again. Version 7.4.1 of @libp2p/utils tells all of them at once, however
 * little room there is: with 500 streams that wait, each 64 KiB that went out cost five milliseconds, nothing else had its
 * turn, and each stream brought more to wait. Here one stream after the other goes on, in the same order, until the connection
 * is full.
 * Report to send: 'a drained connection wakes all streams of its muxer, of which the first fills it'.
 *
 * Reaches into a stream's `onMuxerDrain` and the connection's `writableNeedsDrain`; where one is missing all are told at
 * once. Without it `muxer-drain.test.ts` fails; `npm run attack -- service-sippers` has such streams.
 */

/** A muxer of the library, as far as its inner parts are used here. */
interface DrainingMuxer {
  readonly maConn: { readonly writableNeedsDrain?: boolean }
}

interface DrainedStream {
  onMuxerDrain?: () => void
}

/** Gives the function to be called with each stream of the muxer. */
export function drainOneByOne(muxer: object): (stream: object) => void {
  const { maConn } = muxer as Partial<DrainingMuxer>
  if (maConn?.writableNeedsDrain === undefined) return () => {}
  /** Tells the streams to go on, in the order of the library: those of the connection's last drain. */
  let tellers: (() => void)[] = []
  let isGathering = false
  const goOn = (of: readonly (() => void)[], at: number) => {
    const tell = of[at]
    if (of !== tellers || tell === undefined || maConn.writableNeedsDrain === true) return
    tell()
    // a stream that is told sends in a microtask of its own, which comes before this one
    queueMicrotask(() => goOn(of, at + 1))
  }
  return (watched) => {
    const stream = watched as DrainedStream
    const onMuxerDrain = stream.onMuxerDrain?.bind(stream)
    if (onMuxerDrain === undefined) return
    stream.onMuxerDrain = () => {
      if (!isGathering) {
        isGathering = true
        const now: (() => void)[] = []
        tellers = now
        queueMicrotask(() => {
          isGathering = false
          goOn(now, 0)
        })
      }
      tellers.push(onMuxerDrain)
    }
  }
}
