/**
 * Bounds what comes on a data channel of WebRTC. Version 6.0.33 of @libp2p/webrtc takes text for bytes: `new Uint8Array` of
 * the text '1000000000' is a gigabyte of empty frames that are decoded at once, and of '-1' an error that nobody catches,
 * which ends the process; both come before any handshake, too. It also answers each frame that says that a stream has
 * ended, and one message of 16 KiB holds five thousand of them. And it handles as many messages in a turn of the event loop
 * as have come.
 * Report to send: 'stream.ts: a data channel's text messages must be refused (event.data is a string); answer FIN once'.
 *
 * Wraps two methods of the library below (node-datachannel 0.33.4), once for a process. Without it `data-channels.test.ts`
 * fails; `npm run attack -- channel-texts channel-frames channel-messages` sends such messages.
 */
import { type Clock, LoopTurns } from '@mesh/core'
import { RTCDataChannel } from 'node-datachannel/polyfill'
import {
  FRAMES_TURN_MS,
  MAX_CHANNEL_FLAGS,
  MAX_FRAMES_IN_CHANNEL_MESSAGE,
  MAX_WAITING_CHANNEL_MESSAGES,
} from '../limits.ts'

let wrapped = false

/** Bounds the data channels of all connections of this process. */
export function boundDataChannels(clock: Pick<Clock, 'monotonic' | 'after'>): void {
  if (wrapped) return
  wrapped = true
  const { prototype } = RTCDataChannel
  const send = prototype.send
  const flags = new WeakMap<object, number>()
  const inboxes = new WeakMap<object, ChannelInbox>()
  const dispatch = prototype.dispatchEvent
  const turns = new LoopTurns(FRAMES_TURN_MS, clock)
  const waiting = new WaitingEvents()
  prototype.dispatchEvent = function (event) {
    let inbox = inboxes.get(this)
    if (inbox === undefined) {
      const handOn = (each: Event) => dispatch.call(this, each)
      inbox = new ChannelInbox({ handOn, onRefused: () => this.close() }, { turns, waiting })
      inboxes.set(this, inbox)
    }
    inbox.take(event)
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

interface Shared {
  readonly turns: LoopTurns
  readonly waiting: WaitingEvents
}

/** The events of all channels that wait. Of too many, those of the channel that has the most are dropped, and it closes. */
class WaitingEvents {
  readonly #inboxes = new Set<ChannelInbox>()
  #count = 0

  /** Counts one more of a channel. */
  add(inbox: ChannelInbox): void {
    this.#inboxes.add(inbox)
    if (++this.#count <= MAX_WAITING_CHANNEL_MESSAGES) return
    const largest = [...this.#inboxes].reduce((a, b) => (b.waiting > a.waiting ? b : a))
    largest.refuse()
  }

  /** Counts so many of a channel no more. */
  remove(inbox: ChannelInbox, count: number): void {
    this.#count -= count
    if (inbox.waiting === 0) this.#inboxes.delete(inbox)
  }
}

/** How many events of a channel are handed on in one turn: what their readers do with them comes after. */
const EVENTS_AT_ONCE = 64

/** The events of one channel, handed on at once while the turn has time, and in order. */
class ChannelInbox {
  readonly #handOn: (event: Event) => void
  readonly #onRefused: () => void
  readonly #shared: Shared
  readonly #walk = new FrameWalk()
  #waiting: Event[] = []
  /** Something came that nobody takes: the channel closes, and no message is looked at any more. */
  #isRefused = false

  constructor(
    on: { readonly handOn: (event: Event) => void; readonly onRefused: () => void },
    shared: Shared,
  ) {
    this.#handOn = on.handOn
    this.#onRefused = on.onRefused
    this.#shared = shared
  }

  take(event: Event): void {
    if (event.type !== 'message') {
      if (this.#waiting.length === 0) this.#handOn(event)
      else this.#wait(event)
      return
    }
    if (this.#isRefused) return
    if (!this.#isMessage(event as MessageEvent<unknown>)) this.refuse()
    else if (this.#waiting.length === 0 && this.#shared.turns.isTimeLeft()) this.#handOn(event)
    else this.#wait(event)
  }

  /** The number of its events that wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Closes the channel, and drops what waits. */
  refuse(): void {
    const count = this.#waiting.length
    this.#isRefused = true
    this.#waiting = []
    this.#shared.waiting.remove(this, count)
    this.#onRefused()
  }

  #wait(event: Event): void {
    this.#waiting.push(event)
    if (this.#waiting.length === 1) this.#shared.turns.later(this.#goOn)
    this.#shared.waiting.add(this)
  }

  #isMessage({ data }: MessageEvent<unknown>): boolean {
    return data instanceof ArrayBuffer && this.#walk.take(new Uint8Array(data))
  }

  readonly #goOn = (): void => {
    const { turns, waiting } = this.#shared
    const now = this.#waiting.slice(0, EVENTS_AT_ONCE)
    for (const event of now) this.#handOn(event)
    this.#waiting = this.#waiting.slice(now.length)
    waiting.remove(this, now.length)
    if (this.#waiting.length > 0) turns.later(this.#goOn)
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
  /** The part of a length that has come. */
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
