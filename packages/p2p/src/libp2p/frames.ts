/**
 * Length-prefixed frames over a libp2p stream, with backpressure both ways and an end that can be trusted:
 * 1. chunks are queued as the stream hands them out; beyond the high mark, with a whole frame waiting, it is paused
 * 2. frames are cut from the queue as the consumer asks for them
 * 3. a close at a frame's edge ends the iteration; a reset, an abort or a close inside a frame throws
 */
import type { Stream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { encodePrefix } from '../length-prefix.ts'
import { READ_HIGH_WATER_BYTES } from '../limits.ts'
import { MessageBuffer } from '../message-buffer.ts'

/** A frame's announced length is over the bound, or its prefix is no length. */
export class FrameTooLongError extends Error {
  override readonly name = 'FrameTooLongError'
}

/**
 * @param onHeld is told how many bytes of an unfinished frame wait
 * @yields each frame's bytes, owned by the consumer. A `for await` keeps a frame until the next one comes. With large frames the
 *   consumer calls `next()` in a function that returns
 */
export async function* readFrames(
  stream: Stream,
  maxFrameBytes: number,
  onHeld: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const buffer = new MessageBuffer(maxFrameBytes)
  const input = openInput(stream, buffer)
  try {
    for (;;) {
      const frame = buffer.take()
      if (frame === 'too long') throw new FrameTooLongError(`a frame of more than ${maxFrameBytes} bytes`)
      onHeld(frame === undefined ? buffer.byteLength : 0)
      if (frame !== undefined) yield frame
      else if (!(await input.more())) break
    }
    if (buffer.byteLength > 0) throw new Error('the stream ended inside a frame')
  } finally {
    onHeld(0)
    input.release()
  }
}

/** Sends one short frame. @throws Error when the stream takes nothing more */
export async function writeFrame(stream: Stream, message: Uint8Array): Promise<void> {
  stream.send(new Uint8ArrayList(encodePrefix(message.byteLength), message))
}

interface Input {
  /** Resolves true when bytes came, false at the end; rejects when the stream broke. */
  more(): Promise<boolean>
  release(): void
}

function openInput(stream: Stream, buffer: MessageBuffer): Input {
  let broken: Error | undefined
  let ended = false
  let waiting: (() => void) | undefined
  const wake = () => {
    waiting?.()
    waiting = undefined
  }
  const onMessage = (event: { readonly data: Uint8Array | Uint8ArrayList }) => {
    const { data } = event
    for (const piece of data instanceof Uint8Array ? [data] : data) buffer.add(piece)
    // deferred: pausing inside an event that resume() fired would be undone; and only while nobody asks for more
    if (buffer.byteLength >= READ_HIGH_WATER_BYTES) queueMicrotask(pauseIfFull)
    wake()
  }
  const pauseIfFull = () => {
    const full = waiting === undefined && buffer.byteLength >= READ_HIGH_WATER_BYTES
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
    async more() {
      const had = buffer.byteLength
      for (;;) {
        if (stream.readStatus === 'paused') stream.resume()
        if (buffer.byteLength > had) return true
        // `readableEnded` may come before the last bytes were handed out
        if (stream.readBufferLength === 0 || stream.readStatus === 'closed') {
          if (broken !== undefined) throw broken
          if (stream.status === 'reset' || stream.status === 'aborted')
            throw new Error('the stream was reset')
          if (isOver()) return false
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting = resolve
        await promise
      }
    },
    release() {
      stream.removeEventListener('message', onMessage)
      stream.removeEventListener('end', onEnd)
      stream.removeEventListener('close', onClose)
    },
  }
}
