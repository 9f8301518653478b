/**
 * Length-prefixed frames over a libp2p stream, with backpressure both ways and an end that can be trusted:
 * 1. chunks are queued as the stream hands them out; beyond the high mark, with a whole frame waiting, it is paused
 * 2. frames are cut from the queue as the consumer asks for them
 * 3. a close at a frame's edge ends the iteration; a reset, an abort or a close inside a frame throws
 */
import type { Stream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { FrameQueue } from './frame-queue.ts'
import { encodePrefix, MAX_PREFIX_BYTES, PREFIX_CONTINUES } from '../length-prefix.ts'
import { READ_HIGH_WATER_BYTES, SEND_LOW_WATER_BYTES } from '../limits.ts'

/** A frame's announced length is over the bound, or its prefix is no length. */
export class FrameTooLongError extends Error {
  override readonly name = 'FrameTooLongError'
}

/**
 * @param onHeld is told how many bytes of an unfinished frame wait; an error that it throws ends the reading
 * @yields each frame's bytes, owned by the consumer. A `for await` keeps a frame until the next one comes. With large frames the
 *   consumer calls `next()` in a function that returns
 */
export async function* readFrames(
  stream: Stream,
  maxFrameBytes: number,
  onHeld?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const input = openInput(stream)
  try {
    for (;;) {
      const frame = cutFrame(input.queue, maxFrameBytes)
      onHeld?.(frame === undefined ? input.queue.byteLength : 0)
      if (frame !== undefined) yield frame
      else if (!(await input.more())) break
    }
    if (input.queue.byteLength > 0) throw new Error('the stream ended inside a frame')
  } finally {
    onHeld?.(0)
    input.release()
  }
}

/**
 * Sends one frame; the stream keeps `message` until it has gone out. Resolves when more may follow, rejects when the
 * stream ends before that.
 */
export async function writeFrame(stream: Stream, message: Uint8Array): Promise<void> {
  if (stream.writeStatus !== 'writable') throw new Error(`the stream is ${stream.status}`)
  let mayFollow = stream.send(new Uint8ArrayList(encodePrefix(message.byteLength), message))
  while (!mayFollow && stream.writeBufferLength > SEND_LOW_WATER_BYTES) {
    await nextEvent(stream, ['drain', 'idle', 'close'])
    if (stream.status !== 'open' && stream.status !== 'closing') {
      throw new Error(`the stream is ${stream.status}`)
    }
    mayFollow = !stream.writableNeedsDrain
  }
}

/** Undefined while the queue holds no whole frame. */
function cutFrame(queue: FrameQueue, maxFrameBytes: number): Uint8Array | undefined {
  let length = 0
  let at = 0
  for (;;) {
    if (at === queue.byteLength) return undefined
    const byte = queue.get(at)
    length |= (byte & ~PREFIX_CONTINUES) << (7 * at)
    at++
    if (length > maxFrameBytes)
      throw new FrameTooLongError(`a frame of ${length} bytes, over ${maxFrameBytes}`)
    if ((byte & PREFIX_CONTINUES) === 0) break
    if (at === MAX_PREFIX_BYTES) throw new FrameTooLongError('a length prefix of more than 4 bytes')
  }
  if (queue.byteLength < at + length) return undefined
  return queue.take(at, at + length)
}

interface Input {
  readonly queue: FrameQueue
  /** Resolves true when bytes came, false at the end; rejects when the stream broke. */
  more(): Promise<boolean>
  release(): void
}

function openInput(stream: Stream): Input {
  const queue = new FrameQueue()
  let broken: Error | undefined
  let ended = false
  let waiting: (() => void) | undefined
  const wake = () => {
    waiting?.()
    waiting = undefined
  }
  const onMessage = (event: { readonly data: Uint8Array | Uint8ArrayList }) => {
    queue.append(event.data)
    // deferred: pausing inside an event that resume() fired would be undone; and only while nobody asks for more
    if (queue.byteLength >= READ_HIGH_WATER_BYTES) queueMicrotask(pauseIfFull)
    wake()
  }
  const pauseIfFull = () => {
    const full = waiting === undefined && queue.byteLength >= READ_HIGH_WATER_BYTES
    if (full && stream.readStatus === 'readable') stream.pause()
  }
  const onEnd = () => {
    ended = true
    wake()
  }
  const onClose = (event: { readonly error?: Error }) => {
    broken ??= event.error
    ended = true
    wake()
  }
  stream.addEventListener('message', onMessage)
  stream.addEventListener('end', onEnd)
  stream.addEventListener('close', onClose)

  const isOver = () => ended || stream.readableEnded || !['open', 'closing'].includes(stream.status)
  return {
    queue,
    async more() {
      const had = queue.byteLength
      for (;;) {
        if (stream.readStatus === 'paused') stream.resume()
        if (queue.byteLength > had) return true
        // `readableEnded` may come before the last bytes were handed out
        if (stream.readBufferLength === 0 || stream.readStatus === 'closed') {
          if (broken !== undefined) throw broken
          if (stream.status === 'reset' || stream.status === 'aborted')
            throw new Error('the stream was reset')
          if (isOver()) return false
        }
        await new Promise<void>((resolve) => {
          waiting = resolve
        })
      }
    },
    release() {
      queue.clear()
      stream.removeEventListener('message', onMessage)
      stream.removeEventListener('end', onEnd)
      stream.removeEventListener('close', onClose)
    },
  }
}

function nextEvent(stream: Stream, types: readonly ('drain' | 'idle' | 'close')[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const type of types) stream.removeEventListener(type, done)
      resolve()
    }
    for (const type of types) stream.addEventListener(type, done)
  })
}
