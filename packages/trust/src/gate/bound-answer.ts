/**
 * The answer of the second provider (docs/PROTOCOLS.md, 'Trust: `/mesh/trust/1`'): an ECDSA signature over who answers,
 * whom, in which network, the asker's fresh nonce and the time. Its digest is SHA-512 of binary texts, which no digest
 * of a legacy challenge equals, so that one key serves both without one passing for the other.
 */
import { type KeyObject, sign, verify } from 'node:crypto'
import type { PeerId } from '@mesh/core'
import { ANSWER_CLOCK_SKEW_MS } from '../limits.ts'

/** The facts that an answer is bound to. */
export interface AnswerBinding {
  /** The network's id, 20 hexadecimal digits. */
  readonly network: string
  readonly prover: PeerId
  readonly verifier: PeerId
  /** Drawn by the verifier for this one answer. */
  readonly nonce: Uint8Array
  /** The prover's time, in Unix ms. */
  readonly timeMs: number
}

export function signAnswer(key: KeyObject, binding: AnswerBinding): Uint8Array {
  return new Uint8Array(sign('sha512', signedBytes(binding), key))
}

/** True when one of the keys made the signature and the time is about now. Never throws. */
export function isAnswer(
  keys: readonly KeyObject[],
  signature: Uint8Array,
  binding: AnswerBinding & { readonly now: number },
): boolean {
  const { timeMs, now } = binding
  if (!Number.isSafeInteger(timeMs) || Math.abs(timeMs - now) > ANSWER_CLOCK_SKEW_MS) return false
  const bytes = signedBytes(binding)
  return keys.some((key) => isSignature(key, bytes, signature))
}

function isSignature(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify('sha512', bytes, key, signature)
  } catch {
    return false
  }
}

/** L(text) for each part: an 8-byte big-endian length and the bytes. */
function signedBytes({ network, prover, verifier, nonce, timeMs }: AnswerBinding): Uint8Array {
  const parts = ['mesh trust answer 1', network, prover, verifier, nonce, String(timeMs)]
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as string)
      const length = Buffer.alloc(8)
      length.writeBigUInt64BE(BigInt(bytes.length))
      return [length, bytes]
    }),
  )
}
