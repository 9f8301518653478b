/**
 * Bounds the ids of peers in addresses, by the registry that @multiformats/multiaddr offers. Base58 takes time by the square of
 * the length: an id of a megabyte in a question to a relay would take hours (`npm run attack -- relay-messages`).
 */
import { CODE_P2P, registry } from '@multiformats/multiaddr'
import { MAX_PEER_ID_BYTES } from '../limits.ts'

/** The longest text of so many bytes in any base: two characters a byte. */
const MAX_PEER_ID_CHARS = 2 * MAX_PEER_ID_BYTES

let isBounded = false

/** Has every part of libp2p refuse addresses with too long an id. Works once for the process. */
export function boundPeerIds(): void {
  if (isBounded) return
  isBounded = true
  const codec = registry.getProtocol(CODE_P2P)
  const { bytesToValue, valueToBytes } = codec
  if (bytesToValue === undefined || valueToBytes === undefined) return
  registry.addProtocol({
    ...codec,
    bytesToValue(bytes) {
      if (bytes.length > MAX_PEER_ID_BYTES) throw new Error('too long a peer id')
      return bytesToValue(bytes)
    },
    valueToBytes(value) {
      if (value.length > MAX_PEER_ID_CHARS) throw new Error('too long a peer id')
      return valueToBytes(value)
    },
  })
}
