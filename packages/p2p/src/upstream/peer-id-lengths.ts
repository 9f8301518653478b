/**
 * Bounds the ids of peers in addresses. @multiformats/multiaddr 13.0.3 makes base58 of `/p2p/...` as it reads an address,
 * which takes time by the square of the id's length: 8 KB in what a peer says of itself take a tenth of a second, a
 * megabyte in a question to a relay takes hours.
 * Report to send: 'the p2p component of a multiaddr has no upper bound, and base58 is quadratic'.
 *
 * By the registry that the library offers, so that every address that any part of libp2p reads has the bound. Without it
 * `peer-id-lengths.test.ts` fails; `npm run attack -- identify-lists relay-messages` sends such addresses.
 */
import { CODE_P2P, registry } from '@multiformats/multiaddr'
import { MAX_PEER_ID_BYTES } from '../limits.ts'

/** The longest text of so many bytes in any base: two characters a byte. */
const MAX_PEER_ID_CHARS = 2 * MAX_PEER_ID_BYTES

let isBounded = false

/** Has addresses refused that name a peer by too long an id; once for the whole process. */
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
