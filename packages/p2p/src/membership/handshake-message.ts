import { reader, writer } from 'protons-runtime'

export const NONCE_BYTES = 32

const PROOF_BYTES = 32

/** One message; absent fields were not sent. */
export interface HandshakeMessage {
  readonly nonce?: Uint8Array | undefined
  readonly proof?: Uint8Array | undefined
}

/** Encodes a message as protobuf: `message { bytes nonce = 1; bytes proof = 2; }`. */
export function encodeHandshakeMessage({ nonce, proof }: HandshakeMessage): Uint8Array {
  const out = writer()
  if (nonce !== undefined) out.uint32((1 << 3) | 2).bytes(nonce)
  if (proof !== undefined) out.uint32((2 << 3) | 2).bytes(proof)
  return out.finish()
}

/** Decodes a message; gives undefined for what is none, and skips fields of later versions. */
export function decodeHandshakeMessage(bytes: Uint8Array): HandshakeMessage | undefined {
  try {
    const input = reader(bytes)
    let nonce: Uint8Array | undefined
    let proof: Uint8Array | undefined
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (tag === ((1 << 3) | 2)) nonce = input.bytes()
      else if (tag === ((2 << 3) | 2)) proof = input.bytes()
      else input.skipType(tag & 7)
    }
    if (nonce !== undefined && nonce.length !== NONCE_BYTES) return undefined
    if (proof !== undefined && proof.length !== PROOF_BYTES) return undefined
    return { nonce, proof }
  } catch {
    return undefined
  }
}
