/**
 * How long the frames of all connections are handled in one turn of the event loop. @libp2p/yamux 8.0.3 handles all that
 * one block of bytes holds at once: 64 KiB hold five thousand frames, each of which may begin a stream and end it.
 * When the time is over, all connections with frames left wait for the next turn, and are not read meanwhile. In
 * @libp2p/utils 7.4.1 a connection that is paused by what its own `resume` hands over goes on reading: eighty thousand pieces of 13
 * bytes waited in one. So what waited is handled when `resume` has returned.
 *
 * A muxer ends with the GoAway of the other side, by its faults, or by this end's wish, before its connection does. What comes then
 * is dropped: four strangers that went on sending had a node keep 1 GB in eight seconds (`npm run attack -- gone-away`).
 *
 * Reaches into yamux's `onData`, `handleFrame`, `decoder` and `onTransportClosed`, and the connection's `pause`; where one
 * is missing nothing waits. Without it `muxer-turns.test.ts` fails; `npm run attack -- muxer-resets` sends such blocks.
 */
import { type LoopTurns, toError } from '@mesh/core'
import { MAX_BYTES_BEHIND_END } from './limits.ts'

/** A muxer of the library, as far as its inner parts are used here. */
interface TurningMuxer {
  readonly status: string
  readonly decoder: {
    readonly buffer: {
      append(bytes: unknown): void
      consume(count: number): void
      readonly byteLength: number
    }
    readFrame(): unknown
  }
  readonly maConn: { readonly readStatus?: string; pause(): void; resume(): void; abort(error: Error): void }
  onData(bytes: { readonly byteLength: number }): void
  handleFrame(frame: unknown): void
  onTransportClosed(error?: Error): void
  abort(error: Error): void
}

/** Has a muxer share the time of a turn with all others. */
export function handleInTurns(made: object, turns: LoopTurns): void {
  if (!isTurning(made)) return
  const muxer = made
  const onTransportClosed = muxer.onTransportClosed.bind(muxer)
  let [isWaiting, isResuming] = [false, false]
  let end: (() => void) | undefined
  const goOn = () => {
    isWaiting = false
    try {
      handleFrames()
      if (!isWaiting) resume()
    } catch (error) {
      muxer.abort(toError(error))
      muxer.maConn.abort(toError(error))
    }
    if (!isWaiting) end?.()
  }
  const resume = () => {
    if (muxer.maConn.readStatus !== 'paused') return
    isResuming = true
    try {
      muxer.maConn.resume()
    } finally {
      isResuming = false
    }
    handleFrames()
  }
  let behindEnd = 0
  const dropRest = () => {
    const { buffer } = muxer.decoder
    behindEnd += buffer.byteLength
    buffer.consume(buffer.byteLength)
    if (behindEnd > MAX_BYTES_BEHIND_END)
      muxer.maConn.abort(new Error('bytes came after the end of the muxer'))
  }
  const handleFrames = () => {
    while (muxer.status !== 'closed') {
      // what one frame of 64 KiB brings may take 10 ms
      if (!turns.isTimeLeft()) {
        isWaiting = true
        turns.later(goOn)
        pause(muxer)
        return
      }
      const frame = muxer.decoder.readFrame()
      if (frame === undefined) return
      muxer.handleFrame(frame)
    }
    dropRest()
  }
  muxer.onData = (bytes) => {
    muxer.decoder.buffer.append(bytes)
    if (!isWaiting && !isResuming) handleFrames()
  }
  // what came before the end belongs to the streams
  muxer.onTransportClosed = (error) => {
    if (isWaiting || isResuming) end = () => onTransportClosed(error)
    else onTransportClosed(error)
  }
}

function pause({ maConn }: TurningMuxer): void {
  if (maConn.readStatus === 'readable') maConn.pause()
}

function isTurning(made: object): made is TurningMuxer {
  const { decoder, maConn, handleFrame, onTransportClosed } = made as Partial<TurningMuxer>
  const methods = [decoder?.readFrame, decoder?.buffer?.append, maConn?.pause, handleFrame, onTransportClosed]
  return methods.every((method) => typeof method === 'function')
}
