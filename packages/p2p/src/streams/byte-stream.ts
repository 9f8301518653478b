/**
 * A libp2p stream as plain bytes, without a promise for any chunk:
 * 1. what comes is handed on as it was decrypted, chunk by chunk; while nobody listens or the listener pauses, the
 *    stream is paused, so that its window fills up and the other side stops
 * 2. what is sent goes to libp2p at once; `send` says when to stop, `onDrain` when little is left to go out
 * 3. it ends once: with the other side's close when all was read (with `halfClose` when this side ended, too), else
 *    with what broke it
 */
import type { Connection, Stream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'
import { type Clock, type PeerId, toError } from '@mesh/core'
import { CHANNEL_CLOSE_MS, SEND_LOW_WATER_BYTES } from '../limits.ts'
import type { ByteStream } from '../p2p-node.ts'
import { closeWriting } from './close-stream.ts'
import { isLive } from './member-streams.ts'

export interface ByteStreamInit {
  readonly stream: Stream
  readonly connection: Connection
  readonly peer: PeerId
  readonly clock: Clock
  /** Each direction ends for itself; default false: the end of one ends the other one, too. */
  readonly halfClose?: boolean | undefined
}

const NOTHING = new Uint8Array(0)

export function createByteStream(init: ByteStreamInit): ByteStream {
  const { stream, connection, peer, clock, halfClose = false } = init
  const reader = createReader(stream)
  const writer = createWriter(stream)
  /** Set once; what `onEnd` tells. */
  let end: { readonly error: Error | undefined } | undefined
  let onEnd = (_error: Error | undefined) => {}
  let onRemoteEnd = () => {}
  /** Asked for by this side, or follows the other side's close. */
  let closing = false
  /** This side's direction alone was ended. */
  let ended = false
  /** All that the other side sent before it ended its direction was handed on. */
  let remoteDone = false
  /** The other side said that no more comes: without it a stream that is over was cut. */
  let remoteClosed = stream.remoteWriteStatus === 'closed' && isLive(stream)

  function finish(error: Error | undefined): void {
    if (end !== undefined) return
    end = { error }
    reader.stop()
    writer.stop()
    onEnd(error)
  }

  function close(): void {
    if (closing || !isLive(stream)) return
    closing = true
    const { heard } = reader
    reader.stop()
    writer.stop()
    const cancel = clock.after(CHANNEL_CLOSE_MS, () =>
      stream.abort(new Error('the other side did not close')),
    )
    stream.addEventListener('close', cancel, { once: true })
    void closeWriting(stream, { clock, heard })
    // what still comes is thrown away, so that the other side is not held up
    stream.closeRead().catch((error: unknown) => stream.abort(toError(error)))
  }

  function endWriting(): void {
    if (ended || closing || !isLive(stream)) return
    ended = true
    writer.stop()
    // a slow reader on the other side takes the time that it takes
    void closeWriting(stream, { clock, heard: reader.heard, isPatient: true })
  }

  function onAllRead(): void {
    if (!remoteClosed || closing || remoteDone || !reader.isEmpty()) return
    remoteDone = true
    if (!halfClose) {
      finish(undefined)
      return close()
    }
    onRemoteEnd()
    if (!isLive(stream)) finish(ended ? undefined : new Error('the connection closed'))
  }

  reader.onEmpty = onAllRead
  const onRemoteClose = () => {
    remoteClosed = true
    onAllRead()
  }
  const onClose = ({ error }: StreamCloseEvent) => {
    const isCut = !remoteClosed || (halfClose && (!ended || stream.writeBufferLength > 0))
    if (error === undefined && isCut && !closing) finish(new Error('the connection closed'))
    // what came before a close without fault may still be read
    else if (error !== undefined || closing || reader.isEmpty()) finish(error)
  }
  stream.addEventListener('remoteCloseWrite', onRemoteClose, { once: true })
  stream.addEventListener('close', onClose, { once: true })
  if (!isLive(stream)) finish(new Error(`the stream was ${stream.status}`))
  else onAllRead()

  return {
    peer,
    direct: connection.direct,
    send: (bytes) => (end === undefined && !closing && !ended ? writer.send(bytes) : false),
    onDrain: writer.onDrain,
    onBytes(listener) {
      reader.onBytes(listener)
      queueMicrotask(writer.nudge)
    },
    onEnd(listener) {
      onEnd = listener
      if (end !== undefined) queueMicrotask(() => listener(end?.error))
    },
    end: halfClose ? endWriting : close,
    onRemoteEnd(listener) {
      onRemoteEnd = listener
      if (remoteDone && halfClose) queueMicrotask(listener)
    },
    pause: () => reader.setPaused(true),
    resume: () => reader.setPaused(false),
    close,
    abort(reason) {
      if (isLive(stream)) stream.abort(reason)
    },
  }
}

/** Hands on what comes while it may; else the stream is paused. */
function createReader(stream: Stream) {
  let listener: ((bytes: Uint8Array) => void) | undefined
  let paused = false
  let stopped = false
  let delivering = false
  let switching = false
  /** Came and was not handed on: a listener paused in the middle. */
  const held: Uint8Array[] = []

  const mayDeliver = () => listener !== undefined && !paused && !stopped

  const onMessage = ({ data }: StreamMessageEvent) => {
    reader.heard = true
    if (data instanceof Uint8Array) held.push(data)
    else for (const chunk of data) held.push(chunk)
    deliver()
  }

  function deliver(): void {
    if (delivering) return
    delivering = true
    let next = 0
    try {
      for (; next < held.length && mayDeliver(); next++) listener?.(held[next] as Uint8Array)
    } finally {
      held.splice(0, next)
      delivering = false
    }
    regulate()
    if (reader.isEmpty()) reader.onEmpty()
  }

  /** Pausing inside a 'message' that `stream.resume()` fired would be undone, so it waits until that returned. */
  function regulate(): void {
    if (switching || stopped) return
    if (mayDeliver() && held.length === 0 && stream.readStatus === 'paused') {
      switching = true
      stream.resume()
      switching = false
    }
    if (!(mayDeliver() && held.length === 0) && stream.readStatus === 'readable') stream.pause()
  }

  const reader = {
    heard: false,
    /** Called when everything that came was handed on. */
    onEmpty: () => {},
    isEmpty: () => held.length === 0 && stream.readBufferLength === 0,
    onBytes(next: (bytes: Uint8Array) => void) {
      listener = next
      queueMicrotask(deliver)
    },
    setPaused(pause: boolean) {
      paused = pause
      deliver()
    },
    stop() {
      if (stopped) return
      stopped = true
      held.length = 0
      stream.removeEventListener('message', onMessage)
      // the other side's window must not stay shut
      if (stream.readStatus === 'paused') stream.resume()
    },
  }
  if (stream.readStatus === 'readable') stream.pause()
  stream.addEventListener('message', onMessage)
  return reader
}

function createWriter(stream: Stream) {
  let listener = () => {}
  /** `send` said false, and the listener was not told since. */
  let isAwaited = false
  let isQueued = false

  const tell = () => {
    isQueued = false
    if (!isAwaited || stream.writeBufferLength > SEND_LOW_WATER_BYTES) return
    // all went into a connection that is full: its own 'drain' follows
    if (stream.writableNeedsDrain && stream.writeBufferLength === 0) return
    isAwaited = false
    listener()
  }
  // after libp2p sent what waited; inside its 'idle' event a `send` would be put aside and forgotten
  const onSpace = () => {
    if (!isAwaited || isQueued) return
    isQueued = true
    queueMicrotask(tell)
  }
  stream.addEventListener('drain', onSpace)
  stream.addEventListener('idle', onSpace)

  return {
    send(bytes: Uint8Array): boolean {
      try {
        if (stream.send(bytes)) return true
      } catch {
        // refused or cut after it was opened: 'close' tells, or told, why
      }
      isAwaited = true
      return false
    },
    onDrain(next: () => void) {
      listener = next
    },
    /** Who only listens sends nothing that the protocol's name could go with (`lazy-negotiation.ts`). */
    nudge() {
      if (stream.direction === 'outbound' && stream.writeStatus === 'writable') stream.send(NOTHING)
    },
    stop() {
      isAwaited = false
      stream.removeEventListener('drain', onSpace)
      stream.removeEventListener('idle', onSpace)
    },
  }
}
