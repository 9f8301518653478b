import { MeshError, type PeerId, tryParsePeerId } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { type AddressRules, peerIn, tryParseMultiaddr } from './address-rules.ts'

interface PeerAddressInit {
  readonly self: string
  readonly rules: Pick<AddressRules, 'isBlocked'>
}

/**
 * Reads a peer id, or an address that ends with one; `address` is undefined for an id alone.
 *
 * @throws MeshError `p2p.bad_peer_address`
 */
export function parsePeerAddress(
  text: string,
  { self, rules }: PeerAddressInit,
): { readonly peer: PeerId; readonly address: Multiaddr | undefined } {
  const id = tryParsePeerId(text)
  if (id !== undefined) return { peer: id, address: undefined }
  const address = tryParseMultiaddr(text)
  if (address === undefined) throw bad(text, 'is no peer id and no address')
  const isNamed = address.getComponents().at(-1)?.name === 'p2p'
  const peer = isNamed ? tryParsePeerId(peerIn(address) ?? '') : undefined
  if (peer === undefined) throw bad(text, 'does not end with /p2p/ and the id of the peer')
  if (rules.isBlocked(address)) throw bad(text, 'lies in a range that this node keeps out of')
  if (peer !== self && text.includes(self)) throw bad(text, 'leads over this node itself')
  return { peer, address }
}

function bad(text: string, reason: string): MeshError {
  return new MeshError('p2p.bad_peer_address', `${JSON.stringify(text.slice(0, 200))} ${reason}`, {
    hint: 'Give a peer id, or an address like /ip4/192.0.2.7/tcp/4001/p2p/12D3KooW...',
  })
}
