/**
 * Refuses what no data channel of libp2p carries: text, many frames in one message, streams that end over and over.
 *
 * @library @libp2p/webrtc 6.0.33, node-datachannel 0.33.4
 * @wraps `RTCDataChannel.prototype`, its `dispatchEvent` and `send`
 * @without Strangers end the process: the text `-1` is an error that nobody catches, and `1000000000` a gigabyte of frames.
 * @shown `upstream/webrtc/data-channels.test.ts`, `npm run attack -- channel-texts channel-frames channel-messages`
 */
import { RTCDataChannel } from 'node-datachannel/polyfill'
import type { Clock } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import { CHANNEL_MESSAGES, MAX_CHANNEL_FLAGS, MAX_FRAMES_IN_CHANNEL_MESSAGE } from '../limits.ts'
import { openInner } from '../inner-names.ts'

let isWrapped = false

/** The state of one channel. */
interface Channel {
  readonly walk: FrameWalk
  readonly messages: TokenBucket
  /** How often this side said that a stream has ended. */
  flags: number
  isRefused: boolean
}

/** Bounds the data channels of all connections of this process. @throws MeshError `p2p.incompatible_library` */
export function boundDataChannels(clock: Clock): void {
  if (isWrapped) return
  isWrapped = true
  const names = ['send', 'dispatchEvent'] as const
  const prototype = openInner<RTCDataChannel>('node-datachannel 0.33.4', RTCDataChannel.prototype, names)
  const { send, dispatchEvent } = prototype
  const channels = new WeakMap<object, Channel>()
  const channelOf = (of: object): Channel => {
    const known = channels.get(of)
    if (known !== undefined) return known
    const messages = createTokenBucket(CHANNEL_MESSAGES, clock)
    const channel = { walk: new FrameWalk(), messages, flags: 0, isRefused: false }
    channels.set(of, channel)
    return channel
  }
  prototype.dispatchEvent = function (event) {
    if (event.type !== 'message') return dispatchEvent.call(this, event)
    const channel = channelOf(this)
    if (channel.isRefused) return true
    if (mayCome(channel, event as MessageEvent<unknown>)) return dispatchEvent.call(this, event)
    channel.isRefused = true
    this.close()
    return true
  }
  prototype.send = function (message: never) {
    // the library ends the stream when this throws
    if (isFlag(message) && ++channelOf(this).flags > MAX_CHANNEL_FLAGS)
      throw new Error('a data channel ends over and over')
    send.call(this, message)
  }
}

function mayCome({ walk, messages }: Channel, { data }: MessageEvent<unknown>): boolean {
  return data instanceof ArrayBuffer && messages.take() && walk.take(new Uint8Array(data))
}

/** True for a frame with nothing but the flag; its length goes out before it, in a message of its own. */
function isFlag(message: unknown): boolean {
  return message instanceof Uint8Array && message.length === 2 && message[0] === FLAG_TAG
}

const FLAG_TAG = 1 << 3
/** Lengths have four bytes at most. */
const MAX_LENGTH_BITS = 28

/** Finds where the frames of one channel begin: each stands behind its length, and may go on in the next message. */
export class FrameWalk {
  /** Bytes of a frame's content that are still to come. */
  #left = 0
  /** The part of a length that has come. */
  #length = 0
  #shift = 0
  #isOver = false

  /** False, from then on, when too many frames begin in the message, or a length is too long. */
  take(message: Uint8Array): boolean {
    let begun = 0
    for (let at = 0; at < message.length && !this.#isOver; ) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, message.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      const byte = message[at++] ?? 0
      this.#length += (byte & 0x7f) * 2 ** this.#shift
      this.#shift += 7
      if (byte >= 0x80) {
        this.#isOver = this.#shift > MAX_LENGTH_BITS
        continue
      }
      this.#left = this.#length
      this.#length = 0
      this.#shift = 0
      this.#isOver = ++begun > MAX_FRAMES_IN_CHANNEL_MESSAGE
    }
    return !this.#isOver
  }
}
