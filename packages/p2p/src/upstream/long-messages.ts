/**
 * Checks the signature of a long message on another thread, and on one copy of it, which is freed at once. @libp2p/gossipsub
 * 17.1.1 encodes the message anew and copies that behind a prefix: of one of 14 MB it leaves 28 MB to be collected, while
 * the message itself is judged. What follows the check stays the library's.
 * Report to send: '`validateToRawMessage` could write prefix and message into one buffer'.
 *
 * Reaches into `validateReceivedMessage`, `globalSignaturePolicy`, `msgIdFn`, `fastMsgIdFn` and `topicValidators`; where one is missing
 * nothing is changed. Without it `long-messages.test.ts` fails; `npm run attack -- long-messages` sends such messages.
 */
import { publicKeyFromProtobuf } from '@libp2p/crypto/keys'
import { type Message, StrictNoSign, StrictSign, type TopicValidatorResult } from '@libp2p/gossipsub'
import type { RPC } from '@libp2p/gossipsub/message'
import type { PeerId, PublicKey } from '@libp2p/interface'
import { peerIdFromMultihash } from '@libp2p/peer-id'
import { type Clock, delay } from '@mesh/core'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { LONG_MESSAGE_BYTES } from '../limits.ts'
import { encodePrefix } from '../length-prefix.ts'

type SignedMessage = Extract<Message, { readonly type: 'signed' }>
type Validate = (this: Validating, source: PeerId, message: Partial<RPC.Message>) => Promise<Outcome>

/** The outcome that the library gives of a message. */
interface Outcome {
  readonly code: string
  readonly msg?: Message
}

interface Validating {
  readonly globalSignaturePolicy?: string
  readonly msgIdFn?: (message: Message) => unknown
  /** Gives a text that copies of a message have in common; the library remembers those of messages that were checked. */
  readonly fastMsgIdFn?: (message: Partial<RPC.Message>) => string
  readonly fastMsgIdCache?: { has(id: string): boolean }
  readonly topicValidators?: ReadonlyMap<
    string,
    (source: PeerId, message: Message) => TopicValidatorResult | Promise<TopicValidatorResult>
  >
  validateReceivedMessage?: Validate
}

/** The outcome that the library gives of a message whose signature is wrong. */
const WRONG = { code: 'invalid', reason: 'error', error: 'invalid_signature' } as const
const SIGN_PREFIX = new TextEncoder().encode('libp2p-pubsub:')
/** The numbers of the fields that are signed, in their order. */
const [FROM, DATA, SEQNO, TOPIC] = [1, 2, 3, 4]
const SEQNO_BYTES = 8
/** How much is copied between two turns of other work: new memory takes 2 ms for each MiB. */
const PIECE_BYTES = 2 ** 20

/**
 * Has long messages checked here, one after the other, as each takes copies of itself; short ones are the library's.
 * @param clock for the turns of the event loop between the steps of a check
 */
export function checkLongMessages(pubsub: object, clock: Clock): void {
  const library = pubsub as Validating
  const { globalSignaturePolicy, msgIdFn, topicValidators } = library
  const validate = library.validateReceivedMessage
  if (validate === undefined || msgIdFn === undefined || topicValidators === undefined) return
  if (globalSignaturePolicy !== StrictSign) return
  const check: Validate = async (source, message) => {
    const pause = () => delay(clock, 0)
    // the frame with the message was taken together in this turn
    await pause()
    if (isCopy(library, message)) return await validate.call(library, source, message)
    const signed = await checkSignature(message, pause)
    if (signed === undefined) return WRONG
    const { topic, data } = signed
    // what follows the check is given the message as one of a network that signs nothing
    const outcome = await validate.call(unsigning(library, signed, message), source, { topic, data })
    return outcome.code === 'valid' ? { ...outcome, msg: signed } : outcome
  }
  let last: Promise<unknown> = Promise.resolve()
  library.validateReceivedMessage = (source, message) => {
    if ((message.data?.length ?? 0) < LONG_MESSAGE_BYTES) return validate.call(library, source, message)
    const outcome = last.then(() => check.call(library, source, message))
    last = outcome.catch(() => undefined)
    return outcome
  }
}

function isCopy({ fastMsgIdFn, fastMsgIdCache }: Validating, message: Partial<RPC.Message>): boolean {
  return fastMsgIdFn !== undefined && fastMsgIdCache?.has(fastMsgIdFn(message)) === true
}

/**
 * The library as that of a network that signs nothing, which knows one message, and that as it was signed.
 *
 * @param came the message as it came: by it the library tells copies
 */
function unsigning(library: Validating, signed: SignedMessage, came: Partial<RPC.Message>): Validating {
  const validator = library.topicValidators?.get(signed.topic)
  const known =
    validator === undefined ? [] : [[signed.topic, (source: PeerId) => validator(source, signed)] as const]
  return Object.create(library, {
    globalSignaturePolicy: { value: StrictNoSign },
    msgIdFn: { value: () => library.msgIdFn?.(signed) },
    fastMsgIdFn: { value: library.fastMsgIdFn && (() => library.fastMsgIdFn?.(came)) },
    topicValidators: { value: new Map(known) },
  }) as Validating
}

/** Gives the message if its author signed it. */
async function checkSignature(
  message: Partial<RPC.Message>,
  pause: () => Promise<void>,
): Promise<SignedMessage | undefined> {
  const { from, data, seqno, topic = '', signature } = message
  if (from === undefined || data === undefined || signature === undefined) return undefined
  if (seqno?.length !== SEQNO_BYTES) return undefined
  const bytes = await signedBytes({ from, data, seqno, topic }, pause)
  try {
    const author = peerIdFromMultihash(decodeDigest(from))
    const key = keyOf(author, message.key)
    if (key === undefined || !(await isSignature(signature, bytes, key))) return undefined
    const sequenceNumber = new DataView(seqno.buffer, seqno.byteOffset).getBigUint64(0)
    return { type: 'signed', from: author, data, sequenceNumber, topic, signature, key }
  } catch {
    // no id, no key, or no signature
    return undefined
  } finally {
    bytes.buffer.transfer(0)
  }
}

/**
 * The library's check of a long text takes tens of milliseconds of its thread; that of Web Crypto, where the runtime has it,
 * another one's.
 */
async function isSignature(
  signature: Uint8Array,
  bytes: Uint8Array<ArrayBuffer>,
  key: PublicKey,
): Promise<boolean> {
  const imported = key.type === 'Ed25519' ? await importEd25519(key.raw) : undefined
  if (imported === undefined) return await key.verify(bytes, signature)
  return await globalThis.crypto.subtle.verify('Ed25519', imported, new Uint8Array(signature), bytes)
}

/** Undefined where the runtime has no Web Crypto, as a page that came over HTTP, or none with such keys. */
async function importEd25519(raw: Uint8Array): Promise<CryptoKey | undefined> {
  try {
    return await globalThis.crypto.subtle.importKey('raw', new Uint8Array(raw), 'Ed25519', false, ['verify'])
  } catch {
    return undefined
  }
}

/** The author's key: that of its id, or the one that came along if the id is made of it. */
function keyOf(author: PeerId, came: Uint8Array | undefined): PublicKey | undefined {
  if (came === undefined) return author.publicKey
  const key = publicKeyFromProtobuf(came)
  return author.equals(key.toMultihash().bytes) ? key : undefined
}

/** Gives the bytes that the author signed: a prefix, and the message's first fields as they are encoded. */
async function signedBytes(
  message: {
    readonly from: Uint8Array
    readonly data: Uint8Array
    readonly seqno: Uint8Array
    readonly topic: string
  },
  pause: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { from, data, seqno, topic } = message
  const topicBytes = new TextEncoder().encode(topic)
  const parts = [
    SIGN_PREFIX,
    ...fieldOf(FROM, from),
    ...fieldOf(DATA, data),
    ...fieldOf(SEQNO, seqno),
    ...(topicBytes.length === 0 ? [] : fieldOf(TOPIC, topicBytes)),
  ]
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    for (let start = 0; start < part.length; start += PIECE_BYTES) {
      const piece = part.subarray(start, start + PIECE_BYTES)
      bytes.set(piece, at)
      at += piece.length
      if (piece.length === PIECE_BYTES) await pause()
    }
  }
  await pause()
  return bytes
}

const fieldOf = (number: number, bytes: Uint8Array) => [
  Uint8Array.of((number << 3) | 2),
  encodePrefix(bytes.length),
  bytes,
]
