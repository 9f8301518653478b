/**
 * A member's name: the base58btc text of an Ed25519 libp2p peer id (`12D3KooW...`), which holds the public key
 * itself. Text of other forms (CIDs, `Qm...`) never becomes a PeerId, so that equal ids are equal strings.
 */
import { base58btc } from 'multiformats/bases/base58'
import { MeshError } from './mesh-error.ts'

declare const peerIdBrand: unique symbol
export type PeerId = string & { readonly [peerIdBrand]: true }

/** Identity multihash of a protobuf public key: type Ed25519, 32 bytes follow. */
const PREFIX = Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20)
const PUBLIC_KEY_BYTES = 32
/** 38 bytes with this prefix always take 52 characters. */
const TEXT_LENGTH = 52

/** Undefined instead of an error, for what remote peers send. */
export function tryParsePeerId(text: string): PeerId | undefined {
  return decodePeerId(text) === undefined ? undefined : (text as PeerId)
}

/** @throws MeshError `core.bad_peer_id` */
export function parsePeerId(text: string): PeerId {
  const id = tryParsePeerId(text)
  if (id !== undefined) return id
  throw new MeshError('core.bad_peer_id', `not a peer id: ${JSON.stringify(text.slice(0, 80))}`, {
    hint: 'A peer id is 52 characters long and begins with 12D3KooW.',
  })
}

/** @param publicKey raw Ed25519 key, 32 bytes */
export function peerIdFromPublicKey(publicKey: Uint8Array): PeerId {
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new RangeError('an Ed25519 public key has 32 bytes')
  const bytes = new Uint8Array(PREFIX.length + PUBLIC_KEY_BYTES)
  bytes.set(PREFIX)
  bytes.set(publicKey, PREFIX.length)
  return base58btc.baseEncode(bytes) as PeerId
}

/** The raw Ed25519 public key, 32 bytes, that the id holds. */
export function publicKeyOf(id: PeerId): Uint8Array {
  const bytes = decodePeerId(id)
  if (bytes === undefined) throw new RangeError('not made by parsePeerId')
  return bytes.subarray(PREFIX.length)
}

/** The id's last eight characters, for tables and log lines. */
export function shortPeerId(id: string): string {
  return id.slice(-8)
}

function decodePeerId(text: string): Uint8Array | undefined {
  if (text.length !== TEXT_LENGTH || !text.startsWith('12D3KooW')) return undefined
  let bytes: Uint8Array
  try {
    bytes = base58btc.baseDecode(text)
  } catch {
    return undefined
  }
  if (bytes.length !== PREFIX.length + PUBLIC_KEY_BYTES) return undefined
  return PREFIX.every((byte, at) => bytes[at] === byte) ? bytes : undefined
}
