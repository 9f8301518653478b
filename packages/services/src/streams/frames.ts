/** Units with an unsigned varint length ahead, as they come and go on a stream: messages and datagrams. */
import type { Clock } from '@mesh/core'
import { servicesError } from '../errors.ts'
import type { ByteStream } from '../ports.ts'

/** The length's bytes: enough for 2 MiB. */
const MAX_LENGTH_BYTES = 3
const NO_BYTES = new Uint8Array()

export function encodeFrame(bytes: Uint8Array): Uint8Array {
  const { byteLength: length } = bytes
  const head =
    length < 0x80
      ? [length]
      : length < 0x4000
        ? [low(length), length >> 7]
        : [low(length), low(length >> 7), length >> 14]
  const frame = new Uint8Array(head.length + length)
  frame.set(head)
  frame.set(bytes, head.length)
  return frame
}

const low = (value: number) => (value & 0x7f) | 0x80

/**
 * Cuts what comes into frames.
 * @returns takes the next bytes and hands on each whole frame, whose bytes are the receiver's; false, from then on: a
 *   frame is over the bound
 */
export function createFrameReader(
  maxFrameBytes: number,
  onFrame: (frame: Uint8Array) => void,
): (bytes: Uint8Array) => boolean {
  const unread = new Unread()
  let isBroken = false
  return (bytes) => {
    const held = unread.with(bytes)
    let at = 0
    while (!isBroken) {
      const head = readLength(held, at)
      if (head === undefined) break
      isBroken = head === 'bad' || head.length > maxFrameBytes
      if (head === 'bad' || isBroken || held.byteLength < head.end + head.length) break
      at = head.end + head.length
      onFrame(held.subarray(head.end, at))
    }
    unread.keep(isBroken ? NO_BYTES : held.subarray(at))
    return !isBroken
  }
}

/** The beginning of a frame of which more is to come, in memory of its own that grows as the frame does. */
class Unread {
  #block: Uint8Array = NO_BYTES
  #byteLength = 0

  /** Gives what was kept and the bytes that follow it, to be used until the next call. */
  with(bytes: Uint8Array): Uint8Array {
    if (this.#byteLength === 0) return bytes
    const length = this.#byteLength + bytes.byteLength
    // byte by byte a copy of all would be made for each
    if (length > this.#block.byteLength) this.#moveTo(new Uint8Array(2 * length))
    this.#block.set(bytes, this.#byteLength)
    this.#byteLength = length
    return this.#block.subarray(0, length)
  }

  /** @param rest the end of what `with` gave */
  keep(rest: Uint8Array): void {
    const isAllOfBlock = rest.buffer === this.#block.buffer && rest.byteLength === this.#byteLength
    if (isAllOfBlock) return
    this.#byteLength = 0
    this.#block = rest.byteLength === 0 ? NO_BYTES : new Uint8Array(rest)
    this.#byteLength = rest.byteLength
  }

  #moveTo(block: Uint8Array): void {
    block.set(this.#block.subarray(0, this.#byteLength))
    this.#block = block
  }
}

/** The length of the frame that begins there; undefined while the length itself has not all come. */
function readLength(
  bytes: Uint8Array,
  at = 0,
): { readonly length: number; readonly end: number } | 'bad' | undefined {
  let length = 0
  for (let index = 0; index < MAX_LENGTH_BYTES; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) return undefined
    length |= (byte & 0x7f) << (7 * index)
    if (byte < 0x80) return { length, end: at + index + 1 }
  }
  return 'bad'
}

export interface ReadMessageInit {
  readonly maxBytes: number
  readonly withinMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/** A stream's first message, and what came behind it. */
export interface FirstMessage {
  readonly message: Uint8Array
  readonly rest: Uint8Array
}

/**
 * Reads the first message of a stream, and leaves the stream paused.
 * @throws MeshError `services.broken`, `services.timeout`; the signal's reason
 */
export function readMessage(stream: ByteStream, init: ReadMessageInit): Promise<FirstMessage> {
  const { maxBytes, withinMs, clock, signal } = init
  return new Promise((resolve, reject) => {
    const unread = new Unread()
    const finish = (act: () => void) => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
      stream.pause()
      act()
    }
    const fail = (reason: string, cause?: Error) =>
      finish(() => reject(servicesError('services.broken', reason, cause === undefined ? {} : { cause })))
    const late = () => servicesError('services.timeout', 'the other side said nothing in time')
    const cancel = clock.after(withinMs, () => finish(() => reject(late())))
    const onAbort = () => finish(() => reject(signal?.reason))
    if (signal?.aborted === true) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    stream.onEnd((error) => fail(error?.message ?? 'the stream ended', error))
    stream.onRemoteEnd(() => fail('the other side ended the stream before it said anything'))
    stream.onBytes((bytes) => {
      const held = unread.with(bytes)
      const head = readLength(held)
      if (head === undefined) return unread.keep(held)
      if (head === 'bad' || head.length > maxBytes) return fail(`no message, or one over ${maxBytes} bytes`)
      const end = head.end + head.length
      if (held.byteLength < end) return unread.keep(held)
      finish(() => resolve({ message: held.subarray(head.end, end), rest: held.subarray(end) }))
    })
  })
}
