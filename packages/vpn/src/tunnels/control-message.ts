/**
 * The messages of `/mesh/vpn/1` (docs/PROTOCOLS.md, 'VPN'). Each holds one of these:
 *
 * message Control { Hello hello = 1; Proof proof = 2; }
 * message Hello { bytes public_key = 1; bytes nonce = 2; uint32 mtu = 3; }
 * message Proof { bytes mac = 1; }
 */
import { reader, writer } from 'protons-runtime'

/** The first message, in which an end speaks of itself. Its lengths are not checked here. */
export interface HelloMessage {
  /** WireGuard's public key, 32 bytes in a message that is right. */
  readonly publicKey: Uint8Array
  readonly nonce: Uint8Array
  /** The longest packet that the sender's interface takes, in bytes. */
  readonly mtu: number
}

type ControlMessage =
  | { readonly kind: 'hello'; readonly hello: HelloMessage }
  | { readonly kind: 'proof'; readonly mac: Uint8Array }
  /** The message holds fields of later versions only. */
  | { readonly kind: 'unknown' }

const HELLO_TAG = (1 << 3) | 2
const PROOF_TAG = (2 << 3) | 2
const PUBLIC_KEY_TAG = (1 << 3) | 2
const NONCE_TAG = (2 << 3) | 2
const MTU_TAG = 3 << 3
const MAC_TAG = (1 << 3) | 2

export function encodeHello({ publicKey, nonce, mtu }: HelloMessage): Uint8Array {
  const hello = writer().uint32(PUBLIC_KEY_TAG).bytes(publicKey).uint32(NONCE_TAG).bytes(nonce)
  return writer().uint32(HELLO_TAG).bytes(hello.uint32(MTU_TAG).uint32(mtu).finish()).finish()
}

export function encodeProof(mac: Uint8Array): Uint8Array {
  return writer().uint32(PROOF_TAG).bytes(writer().uint32(MAC_TAG).bytes(mac).finish()).finish()
}

/** Undefined when the bytes are no such message, or hold two of them. */
export function decodeControl(bytes: Uint8Array): ControlMessage | undefined {
  try {
    const found: ControlMessage[] = []
    const input = reader(bytes)
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (tag === HELLO_TAG) found.push({ kind: 'hello', hello: decodeHello(input.bytes()) })
      else if (tag === PROOF_TAG) found.push({ kind: 'proof', mac: decodeMac(input.bytes()) })
      else input.skipType(tag & 7)
    }
    return found.length > 1 ? undefined : (found[0] ?? { kind: 'unknown' })
  } catch {
    return undefined
  }
}

function decodeHello(bytes: Uint8Array): HelloMessage {
  let [publicKey, nonce, mtu] = [new Uint8Array(), new Uint8Array(), 0]
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === PUBLIC_KEY_TAG) publicKey = Uint8Array.from(input.bytes())
    else if (tag === NONCE_TAG) nonce = Uint8Array.from(input.bytes())
    else if (tag === MTU_TAG) mtu = input.uint32()
    else input.skipType(tag & 7)
  }
  return { publicKey, nonce, mtu }
}

function decodeMac(bytes: Uint8Array): Uint8Array {
  let mac = new Uint8Array()
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === MAC_TAG) mac = Uint8Array.from(input.bytes())
    else input.skipType(tag & 7)
  }
  return mac
}
