/**
 * How long the messages of libp2p's own protocols may be, and what they may name. Most readers of libp2p 3.3.11 take up to
 * 4 MiB (`pbStream` without `maxDataLength`), and read an address or an id of each few bytes of it at once.
 * Report to send: 'circuit-relay-v2, kad-dht and webrtc read messages without maxDataLength; the relay's specification has
 * 4 KiB'.
 *
 * Reaches into a stream's `dispatchEvent`, by which the library hands out what was read (@libp2p/utils 7.4.1); where it is
 * missing nothing is bounded. Without it `message-bounds.test.ts` fails; `npm run attack -- relay-messages identify-lists`
 * sends such messages.
 */
import type { Uint8ArrayList } from 'uint8arraylist'
import { MessageBuffer } from '../message-buffer.ts'
import { hasShape, type MessageShape } from '../message-shape.ts'
import { MAX_PEER_ID_BYTES } from '../limits.ts'
import {
  MAX_DHT_ANSWER_BYTES,
  MAX_DHT_QUESTION_BYTES,
  MAX_IDENTIFY_BYTES,
  MAX_IDENTIFY_STREAM_BYTES,
  MAX_MESSAGE_FIELDS,
  MAX_RELAY_MESSAGE_BYTES,
  MAX_SIGNALLING_BYTES,
} from './limits.ts'
import { MAX_AUTONAT_FIELDS, MAX_AUTONAT_MESSAGE_BYTES } from './limits.ts'
import {
  AUTONAT_REQUEST_PROTOCOL,
  HOLE_PUNCH_PROTOCOL,
  IDENTIFY_PROTOCOLS,
  PRIVATE_DHT_PROTOCOL,
  PUBLIC_DHT_PROTOCOL,
  RELAY_HOP,
  RELAY_STOP,
  WEBRTC_SIGNALLING_PROTOCOL,
} from '../protocols.ts'
import { watchStreams } from './muxed-streams.ts'

interface Bounds {
  /** How long a message may be. */
  readonly maxBytes: number
  /** The same for the messages that come on a stream of ours, which answer; `maxBytes` unless given. */
  readonly maxAnswerBytes?: number
  /** How many bytes may come on one stream. */
  readonly maxStreamBytes?: number
  /** How many fields a message may have; `MAX_MESSAGE_FIELDS` unless given. */
  readonly maxFields?: number
  /** True where the first message is the only one, and the stream carries something else after it. */
  readonly isFirstOnly?: boolean
  readonly shape?: MessageShape
}

const PEER: MessageShape = { 1: { maxBytes: MAX_PEER_ID_BYTES } }
/** Both messages of a relay name a peer in their second field. */
const RELAY: Bounds = { maxBytes: MAX_RELAY_MESSAGE_BYTES, isFirstOnly: true, shape: { 2: { shape: PEER } } }
const IDENTIFY: Bounds = { maxBytes: MAX_IDENTIFY_BYTES, maxStreamBytes: MAX_IDENTIFY_STREAM_BYTES }
/** Those that are closer stand in the eighth field, and those that provide in the ninth. */
const DHT: Bounds = {
  maxBytes: MAX_DHT_QUESTION_BYTES,
  maxAnswerBytes: MAX_DHT_ANSWER_BYTES,
  shape: { 8: { shape: PEER }, 9: { shape: PEER } },
}

const BOUNDS: ReadonlyMap<string, Bounds> = new Map([
  [RELAY_HOP, RELAY],
  [RELAY_STOP, RELAY],
  ...IDENTIFY_PROTOCOLS.map((protocol) => [protocol, IDENTIFY] as const),
  [PUBLIC_DHT_PROTOCOL, DHT],
  [PRIVATE_DHT_PROTOCOL, DHT],
  // the question stands in the first field
  [
    AUTONAT_REQUEST_PROTOCOL,
    { maxBytes: MAX_AUTONAT_MESSAGE_BYTES, maxFields: MAX_AUTONAT_FIELDS, shape: { 1: { shape: {} } } },
  ],
  [HOLE_PUNCH_PROTOCOL, { maxBytes: MAX_RELAY_MESSAGE_BYTES }],
  [WEBRTC_SIGNALLING_PROTOCOL, { maxBytes: MAX_SIGNALLING_BYTES }],
])

/** True for a protocol whose messages the library reads itself. */
export const isReadByLibrary = (protocol: string): boolean => BOUNDS.has(protocol)

/** A stream of the library, as far as it is used here. */
interface GivingStream {
  readonly protocol?: string
  readonly direction?: string
  dispatchEvent?(event: Event): boolean
  abort(error: Error): void
}

const bounded = new WeakSet<object>()

/** Ends a stream whose messages are too long, or name too much, before its reader has them. */
export function boundMessages(stream: GivingStream): void {
  const dispatch = stream.dispatchEvent?.bind(stream)
  if (dispatch === undefined || bounded.has(stream)) return
  bounded.add(stream)
  let walk: MessageWalk | undefined
  let isOver = false
  const stopLooking = () => {
    isOver = true
    // whoever has wrapped it meanwhile stays in place
    if (stream.dispatchEvent === look) stream.dispatchEvent = dispatch
  }
  const look = (event: Event) => {
    const { protocol = '' } = stream
    // what comes before belongs to the negotiation of the protocol
    if (isOver || event.type !== 'message' || protocol === '') return dispatch(event)
    const bounds = BOUNDS.get(protocol)
    if (bounds === undefined) stopLooking()
    else {
      walk ??= new MessageWalk(bounds, stream.direction === 'outbound')
      const verdict = walk.take((event as MessageEvent<Uint8Array | Uint8ArrayList>).data.subarray())
      if (verdict === 'refused') {
        // the library is in the midst of handing out
        queueMicrotask(() => stream.abort(new Error('a message over the bound of its protocol')))
        return true
      }
      if (verdict === 'over') stopLooking()
    }
    return dispatch(event)
  }
  stream.dispatchEvent = look
}

/** The same for all streams of a connection. */
export function boundMuxedMessages(connection: object): void {
  watchStreams<GivingStream>(connection, boundMessages)
}

/** The messages of one stream as they come. */
class MessageWalk {
  readonly #bounds: Bounds
  readonly #buffer: MessageBuffer
  #bytes = 0
  #isRefused = false

  constructor(bounds: Bounds, isAnswer: boolean) {
    const { maxBytes, maxAnswerBytes = maxBytes } = bounds
    this.#bounds = bounds
    this.#buffer = new MessageBuffer(isAnswer ? maxAnswerBytes : maxBytes)
  }

  /** `over`: nothing after it is looked at. */
  take(bytes: Uint8Array): 'taken' | 'refused' | 'over' {
    const { maxStreamBytes = Number.POSITIVE_INFINITY, isFirstOnly, shape = {} } = this.#bounds
    const { maxFields = MAX_MESSAGE_FIELDS } = this.#bounds
    this.#bytes += bytes.length
    this.#isRefused ||= this.#bytes > maxStreamBytes
    if (this.#isRefused) return 'refused'
    this.#buffer.add(bytes)
    for (;;) {
      const message = this.#buffer.take()
      if (message === undefined) return 'taken'
      if (message === 'too long' || !hasShape(message, { shape, maxFields })) {
        this.#isRefused = true
        return 'refused'
      }
      if (isFirstOnly === true) return 'over'
    }
  }
}
