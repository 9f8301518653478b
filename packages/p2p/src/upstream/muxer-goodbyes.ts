/**
 * Ends a connection whose other side says that its muxer ends. @libp2p/yamux 8.0.3 ends its streams then and leaves the connection
 * open, on which no stream can be opened any more: a peer that says so and stays held a place, and a member counted as
 * connected and was not dialled. What this end still has to say goes out before.
 *
 * Reaches into yamux's `handleGoAway` and `maConn`; where one is missing the connection stays. Without it
 * `muxer-goodbyes.test.ts` fails.
 */
import { type Clock, toError } from '@mesh/core'
import { GOODBYE_MS } from './limits.ts'

interface LeftMuxer {
  readonly maConn: {
    close(options: { readonly signal: AbortSignal }): Promise<void>
    abort(error: Error): void
  }
  handleGoAway(reason: number): void
}

/** Has the connection end with the muxer of its other side. */
export function endWithOther(made: object, clock: Clock): void {
  const muxer = made as LeftMuxer
  if (typeof muxer.handleGoAway !== 'function' || typeof muxer.maConn?.close !== 'function') return
  const handleGoAway = muxer.handleGoAway.bind(muxer)
  muxer.handleGoAway = (reason) => {
    handleGoAway(reason)
    const limit = new AbortController()
    const cancel = clock.after(GOODBYE_MS, () => limit.abort(new Error('the other side has gone away')))
    muxer.maConn
      .close({ signal: limit.signal })
      .catch((error: unknown) => muxer.maConn.abort(toError(error)))
      .finally(cancel)
  }
}
