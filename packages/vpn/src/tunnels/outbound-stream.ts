/**
 * What the engine has for one peer, to the peer's stream:
 *
 * 1. `readable`: open a stream, unless there is one
 * 2. `take` and `send` while the stream takes; full: go on when it has drained
 * 3. a stream over a relay is exchanged for a direct one as soon as there is a direct connection: open the new one,
 *    turn to it, close the old one, which still sends what it has
 * 4. a stream that ends is opened again when packets wait, after growing waits if it did not last
 *
 * The bytes of a batch belong to the stream from `send` on. No promise, closure or timer for a batch.
 */
import { type Clock, createBackoff, type PeerId, type Random, toError } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream, ByteStreams } from '../ports.ts'
import { tunnelError, within } from './errors.ts'
import {
  BATCHES_PER_TURN,
  MAX_STREAM_RETRY_MS,
  PACKETS_PROTOCOL,
  STREAM_EARLY_RETRY_MS,
  STREAM_IDLE_MS,
  STREAM_OPEN_MS,
  STREAM_PROVEN_MS,
  STREAM_RETRY_MS,
  STREAM_STALL_MS,
} from './limits.ts'

export interface OutboundComponents {
  readonly engine: Pick<Engine, 'take' | 'retryHandshake'>
  readonly streams: Pick<ByteStreams, 'open'>
  /** Is there a direct connection? */
  readonly isDirect: () => boolean
  /** The peer was not reached, or does not speak the protocol any more. It may call `stop`. */
  readonly onOpenFailed: () => void
  readonly clock: Clock
  readonly random: Random
}

export interface OutboundStream {
  /** The engine has something for the peer. */
  readable(): void
  /** A connection came, or changed. */
  reach(): void
  /** Now and then: gives up a stream that stands still, closes one that nothing was sent on for long. */
  sweep(): void
  /** Gives up the stream in use; another one is opened with the next packets. */
  reset(reason: Error): void
  readonly direct: boolean | undefined
  readonly lastError: Error | undefined
  stop(): void
}

export function createOutboundStream(peer: PeerId, components: OutboundComponents): OutboundStream {
  const { engine, streams, isDirect, clock, random } = components
  const stopping = new AbortController()
  const backoff = createBackoff({ leastMs: STREAM_RETRY_MS, mostMs: MAX_STREAM_RETRY_MS }, { clock, random })
  let stream: ByteStream | undefined
  let openedAt = 0
  let opening = false
  /** The engine told of packets that were not all taken. */
  let owed = false
  /** Since when the stream takes no more; undefined: it does. */
  let fullSince: number | undefined
  let sentAt = 0
  let cancelTurn: (() => void) | undefined
  let cancelRetry: (() => void) | undefined
  let lastError: Error | undefined

  function drive(): void {
    if (stopping.signal.aborted) return
    // sending may end the stream
    if (stream !== undefined && owed && fullSince === undefined) pump(stream)
    if (stream === undefined ? owed : !stream.direct && isDirect()) openSoon()
  }

  function pump(to: ByteStream): void {
    sentAt = clock.now()
    for (let batches = 0; batches < BATCHES_PER_TURN; batches++) {
      const batch = engine.take(peer)
      if (batch === undefined) {
        owed = false
        return
      }
      if (!to.send(batch)) {
        // `send` may have ended the stream
        if (stream === to) fullSince = sentAt
        return
      }
      if (stream !== to) return
    }
    cancelTurn ??= clock.after(0, () => {
      cancelTurn = undefined
      drive()
    })
  }

  function openSoon(): void {
    if (opening) return
    const waitMs = backoff.remainingMs()
    if (waitMs > 0) {
      cancelRetry ??= clock.after(waitMs, retry)
      return
    }
    opening = true
    const options = { from: 'proven', relayed: true } as const
    within({ clock, ms: STREAM_OPEN_MS, signal: stopping.signal }, (signal) =>
      streams.open(peer, PACKETS_PROTOCOL, { ...options, signal }),
    ).then(opened, (error: unknown) => {
      opening = false
      if (stopping.signal.aborted) return
      lastError = toError(error)
      backoff.failed()
      components.onOpenFailed()
      drive()
    })
  }

  function retry(): void {
    cancelRetry?.()
    cancelRetry = undefined
    drive()
  }

  function opened(next: ByteStream): void {
    opening = false
    if (stopping.signal.aborted) return next.abort(toError(stopping.signal.reason))
    const before = stream
    if (before !== undefined && !next.direct) {
      // no gain; the direct connection may have gone meanwhile
      next.close()
      backoff.failed()
      return drive()
    }
    stream = next
    openedAt = clock.now()
    sentAt = openedAt
    fullSince = undefined
    next.onDrain(() => {
      if (stream !== next) return
      fullSince = undefined
      drive()
    })
    next.onEnd((error) => {
      if (stream === next) ended(error)
    })
    before?.close()
    drive()
  }

  function ended(error: Error | undefined): void {
    stream = undefined
    fullSince = undefined
    if (error !== undefined) lastError = error
    // one that lasted is opened again at once
    if (clock.now() - openedAt >= STREAM_PROVEN_MS) backoff.succeeded()
    else backoff.failed()
    // a handshake may have been lost with it
    engine.retryHandshake(peer)
    drive()
  }

  function reset(reason: Error): void {
    const old = stream
    if (old === undefined) return
    ended(reason)
    old.abort(reason)
  }

  return {
    readable() {
      owed = true
      drive()
    },
    reach() {
      backoff.hasten(STREAM_EARLY_RETRY_MS)
      retry()
    },
    sweep() {
      const now = clock.now()
      if (fullSince !== undefined && now - fullSince >= STREAM_STALL_MS) {
        reset(tunnelError('vpn.timeout', `the peer took nothing for ${STREAM_STALL_MS} ms`))
      } else if (stream !== undefined && !owed && now - sentAt >= STREAM_IDLE_MS) {
        const idle = stream
        stream = undefined
        idle.close()
      }
    },
    reset,
    get direct() {
      return stream?.direct
    },
    get lastError() {
      return lastError
    },
    stop() {
      const reason = tunnelError('vpn.stopped', 'the VPN does not need this stream any more')
      stopping.abort(reason)
      cancelTurn?.()
      cancelRetry?.()
      stream?.abort(reason)
      stream = undefined
    },
  }
}
