/** Bounds the messages of libp2p's own protocols: most of its readers take 4 MiB, and read all ids in them. */
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

interface Bounds {
  /** Length of a message. */
  readonly maxBytes: number
  /** The same for messages on a stream that this end opened, which are answers; `maxBytes` unless given. */
  readonly maxAnswerBytes?: number
  /** Bytes of all messages of one stream. */
  readonly maxStreamBytes?: number
  /** Number of fields of a message; `MAX_MESSAGE_FIELDS` unless given. */
  readonly maxFields?: number
  /** True where the stream carries something else after the first message. */
  readonly isFirstOnly?: boolean
  readonly shape?: MessageShape
}

const PEER: MessageShape = { 1: { maxBytes: MAX_PEER_ID_BYTES } }
/** Both messages of a relay name a peer in their second field. */
const RELAY: Bounds = { maxBytes: MAX_RELAY_MESSAGE_BYTES, isFirstOnly: true, shape: { 2: { shape: PEER } } }
const IDENTIFY: Bounds = { maxBytes: MAX_IDENTIFY_BYTES, maxStreamBytes: MAX_IDENTIFY_STREAM_BYTES }
/** The eighth field has the peers that are closer, the ninth those that provide. */
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
  // the first field has the question
  [
    AUTONAT_REQUEST_PROTOCOL,
    { maxBytes: MAX_AUTONAT_MESSAGE_BYTES, maxFields: MAX_AUTONAT_FIELDS, shape: { 1: { shape: {} } } },
  ],
  [HOLE_PUNCH_PROTOCOL, { maxBytes: MAX_RELAY_MESSAGE_BYTES }],
  [WEBRTC_SIGNALLING_PROTOCOL, { maxBytes: MAX_SIGNALLING_BYTES }],
])

/** True for a protocol whose messages the library reads itself. */
export const isReadByLibrary = (protocol: string): boolean => BOUNDS.has(protocol)

/** Looks at the messages of one stream as they come. */
export class MessageWalk {
  readonly #bounds: Bounds
  readonly #buffer: MessageBuffer
  #bytes = 0
  #isOver = false

  constructor(protocol: string, isAnswer: boolean) {
    this.#bounds = BOUNDS.get(protocol) ?? { maxBytes: 0 }
    const { maxBytes, maxAnswerBytes = maxBytes } = this.#bounds
    this.#buffer = new MessageBuffer(isAnswer ? maxAnswerBytes : maxBytes)
  }

  /** False once a message is too long or names too much. */
  isWithin(bytes: Uint8Array): boolean {
    if (this.#isOver) return true
    const { maxStreamBytes = Number.POSITIVE_INFINITY, isFirstOnly, shape = {} } = this.#bounds
    const { maxFields = MAX_MESSAGE_FIELDS } = this.#bounds
    this.#bytes += bytes.length
    if (this.#bytes > maxStreamBytes) return false
    this.#buffer.add(bytes)
    for (;;) {
      const message = this.#buffer.take()
      if (message === undefined) return true
      if (message === 'too long' || !hasShape(message, { shape, maxFields })) return false
      if (isFirstOnly === true) return (this.#isOver = true)
    }
  }
}
