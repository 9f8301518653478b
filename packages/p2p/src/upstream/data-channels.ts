/**
 * Bounds what comes on a data channel of WebRTC. Version 6.0.33 of @libp2p/webrtc takes text for bytes: `new Uint8Array` of
 * the text '1000000000' is a gigabyte of empty frames that are decoded at once, and of '-1' an error that nobody catches,
 * which ends the process; both come before any handshake, too. It also answers each frame that says that a stream has
 * ended, and one message of 16 KiB holds five thousand of them.
 * Report to send: 'stream.ts: a data channel's text messages must be refused (event.data is a string); answer FIN once'.
 *
 * Wraps two methods of the library below (node-datachannel 0.33.4), once for a process. Without it `data-channels.test.ts`
 * fails; `npm run attack -- channel-texts channel-frames` sends such messages.
 */
import { RTCDataChannel } from 'node-datachannel/polyfill'
import { MAX_CHANNEL_FLAGS, MAX_FRAMES_IN_CHANNEL_MESSAGE } from '../limits.ts'

let wrapped = false

/** Bounds the data channels of all connections of this process. */
export function boundDataChannels(): void {
  if (wrapped) return
  wrapped = true
  const { prototype } = RTCDataChannel
  const dispatch = prototype.dispatchEvent
  const send = prototype.send
  const frames = new WeakMap<object, FrameWalk>()
  const flags = new WeakMap<object, number>()
  prototype.dispatchEvent = function (event) {
    if (event.type !== 'message') return dispatch.call(this, event)
    const { data } = event as MessageEvent<unknown>
    const walk = frames.get(this) ?? new FrameWalk()
    frames.set(this, walk)
    if (data instanceof ArrayBuffer && walk.take(new Uint8Array(data))) return dispatch.call(this, event)
    this.close()
    return true
  }
  prototype.send = function (message: never) {
    const sent = isFlag(message) ? (flags.get(this) ?? 0) + 1 : 0
    if (sent > 0) flags.set(this, sent)
    // the library ends the stream then
    if (sent > MAX_CHANNEL_FLAGS) throw new Error('a data channel ends over and over')
    send.call(this, message)
  }
}

/** The content of a frame whose only field is the flag; its length goes out ahead, in a message of its own. */
function isFlag(message: unknown): boolean {
  return message instanceof Uint8Array && message.length === 2 && message[0] === FLAG_TAG
}

const FLAG_TAG = 1 << 3

/** Finds where the frames of one channel begin: each stands behind its length, and may go on in the next message. */
export class FrameWalk {
  /** The bytes of a frame's content that are still to come. */
  #left = 0
  /** What came of a length that is not whole. */
  #length = 0
  #shift = 0
  #isOver = false

  /** False when more frames than may be begin in the message, or one is longer than there may be; for good. */
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

/** Lengths have four bytes at most. */
const MAX_LENGTH_BITS = 28
