/**
 * The messages of `/mesh/trust/1` (docs/PROTOCOLS.md, 'Trust: `/mesh/trust/1`'). Each holds one field:
 *
 * ```proto
 * message TrustMessage { bytes nonce = 1; Answer answer = 2; bytes digest = 3; bytes entries = 4; bool done = 5; }
 * message Answer { uint64 time = 1; bytes signature = 2; }
 * ```
 */
import { reader, writer } from 'protons-runtime'

export type TrustMessage =
  /** Asks to be answered by `answer`. */
  | { readonly kind: 'nonce'; readonly nonce: Uint8Array }
  | { readonly kind: 'answer'; readonly timeMs: number; readonly signature: Uint8Array }
  /** What the sender holds of the bucket `admission`. */
  | { readonly kind: 'digest'; readonly digest: Uint8Array }
  /** Entries of the bucket `admission`, as a block. */
  | { readonly kind: 'entries'; readonly block: Uint8Array }
  /** The sender has no more entries. */
  | { readonly kind: 'done' }
  /** The message holds fields of later versions only. */
  | { readonly kind: 'unknown' }

const NONCE_TAG = (1 << 3) | 2
const ANSWER_TAG = (2 << 3) | 2
const DIGEST_TAG = (3 << 3) | 2
const ENTRIES_TAG = (4 << 3) | 2
const DONE_TAG = 5 << 3
const TIME_TAG = 1 << 3
const SIGNATURE_TAG = (2 << 3) | 2

export function encodeTrustMessage(message: Exclude<TrustMessage, { kind: 'unknown' }>): Uint8Array {
  switch (message.kind) {
    case 'nonce':
      return writer().uint32(NONCE_TAG).bytes(message.nonce).finish()
    case 'answer': {
      const answer = writer().uint32(TIME_TAG).uint64Number(message.timeMs)
      answer.uint32(SIGNATURE_TAG).bytes(message.signature)
      return writer().uint32(ANSWER_TAG).bytes(answer.finish()).finish()
    }
    case 'digest':
      return writer().uint32(DIGEST_TAG).bytes(message.digest).finish()
    case 'entries':
      return writer().uint32(ENTRIES_TAG).bytes(message.block).finish()
    case 'done':
      return writer().uint32(DONE_TAG).bool(true).finish()
  }
}

/** Undefined when the bytes are no such message, or hold two of them. */
export function decodeTrustMessage(bytes: Uint8Array): TrustMessage | undefined {
  try {
    const found: TrustMessage[] = []
    const input = reader(bytes)
    while (input.pos < input.len) {
      // a message that is nothing but short fields holds 49,152 of them
      if (found.length > 1) return undefined
      const tag = input.uint32()
      if (tag === NONCE_TAG) found.push({ kind: 'nonce', nonce: Uint8Array.from(input.bytes()) })
      else if (tag === ANSWER_TAG) found.push(decodeAnswer(input.bytes()))
      else if (tag === DIGEST_TAG) found.push({ kind: 'digest', digest: Uint8Array.from(input.bytes()) })
      else if (tag === ENTRIES_TAG) found.push({ kind: 'entries', block: Uint8Array.from(input.bytes()) })
      else if (tag === DONE_TAG && input.bool()) found.push({ kind: 'done' })
      else input.skipType(tag & 7)
    }
    return found.length > 1 ? undefined : (found[0] ?? { kind: 'unknown' })
  } catch {
    return undefined
  }
}

function decodeAnswer(bytes: Uint8Array): TrustMessage {
  let [timeMs, signature] = [0, new Uint8Array()]
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === TIME_TAG) timeMs = input.uint64Number()
    else if (tag === SIGNATURE_TAG) signature = Uint8Array.from(input.bytes())
    else input.skipType(tag & 7)
  }
  return { kind: 'answer', timeMs, signature }
}
