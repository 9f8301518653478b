/**
 * Hands what one peer's stream brings to the engine, and pauses the stream while the engine cannot take more. A newer
 * stream takes the place of the one in use, of which the engine is told (`restart`), as frames begin anew. A direct one
 * that comes while a relayed one still brings bytes is read when that one has ended, or half a second later.
 */
import type { Clock, PeerId } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream } from '../ports.ts'
import { STREAM_MOVE_MS } from './limits.ts'

interface InboundComponents {
  readonly engine: Pick<Engine, 'inject' | 'restart'>
  readonly clock: Clock
  /** Called with whatever the peer sends. */
  readonly onBytes: () => void
}

export type InboundStream = ReturnType<typeof createInboundStream>

export function createInboundStream(peer: PeerId, { engine, clock, onBytes }: InboundComponents) {
  let stream: ByteStream | undefined
  /** The stream that waits until the one in use has ended. */
  let next: ByteStream | undefined
  let paused = false
  /** An earlier stream may have ended inside a frame. */
  let used = false
  let cancelMove = () => {}

  function read(from: ByteStream): void {
    const before = stream
    cancelMove()
    stream = from
    next = undefined
    paused = false
    before?.abort(replaced())
    // not for the first one: it would send a handshake again whose answer this stream is about to bring
    if (used) engine.restart(peer)
    used = true
    from.onBytes((bytes) => {
      onBytes()
      if (stream !== from || engine.inject(peer, bytes) || paused) return
      paused = true
      from.pause()
    })
  }

  function readNext(): void {
    if (next !== undefined) read(next)
  }

  return {
    /** Takes the newest stream, which may have to wait for the one before. */
    accept(newer: ByteStream): void {
      cancelMove()
      next?.abort(replaced())
      next = undefined
      if (stream === undefined || stream.direct || !newer.direct) return read(newer)
      next = newer
      cancelMove = clock.after(STREAM_MOVE_MS, readNext)
    },
    /** Tells that one of the streams has ended. */
    ended(gone: ByteStream): void {
      if (next === gone) {
        cancelMove()
        next = undefined
      } else if (stream === gone) {
        stream = undefined
        readNext()
      }
    },
    /** Tells that the engine takes bytes of the peer again. */
    writable() {
      if (!paused) return
      paused = false
      stream?.resume()
    },
    /** Ends the streams that are open. */
    reset(reason: Error): void {
      cancelMove()
      const open = [stream, next]
      stream = undefined
      next = undefined
      for (const one of open) one?.abort(reason)
    },
    /** True when the stream that is read is direct; undefined without one. */
    get direct(): boolean | undefined {
      return stream?.direct
    },
  }
}

function replaced(): Error {
  return new Error('a newer stream took its place')
}
