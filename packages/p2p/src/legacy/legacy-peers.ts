/** Which peers are legacy: members of EdgeVPN-compatible networks whose software speaks none of our own protocols. */
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'

/** True when the peer is known to be no mesh node; before identify has answered nothing is known, and it is false. */
export function isLegacyPeer(spoken: Pick<SpokenProtocols, 'of'>, peer: string): boolean {
  const protocols = spoken.of(peer)
  return protocols !== undefined && !protocols.has(MEMBER_PROTOCOL)
}
