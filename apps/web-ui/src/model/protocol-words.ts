/** Protocols in words for people, by the beginning of their ids. */
const WORDS: readonly (readonly [beginning: string, words: string])[] = [
  ['/meshsub/', 'gossip'],
  ['/floodsub/', 'gossip'],
  ['/mesh/packets/', 'VPN packets'],
  ['/mesh/vpn/', 'VPN tunnels'],
  ['/mesh/replication/', 'ledger'],
  ['/mesh/file/', 'files'],
  ['/mesh/service/', 'services'],
  ['/mesh/egress/', 'egress'],
  ['/mesh/trust/', 'access'],
  ['/mesh/member/', 'membership'],
  ['/mesh/peers/', 'peer exchange'],
  ['/mesh/bulk/', 'bulk transfers'],
  ['/mesh/kad/', 'DHT'],
  ['/ipfs/kad/', 'public DHT'],
  ['/ipfs/id/push/', 'identify, again'],
  ['/ipfs/id/', 'identify'],
  ['/ipfs/ping/', 'ping'],
  ['/libp2p/autonat/', 'NAT test'],
  ['/libp2p/circuit/relay/', 'relay'],
  ['/libp2p/dcutr', 'hole punching'],
]

/** Undefined for a protocol that mesh does not speak. */
export function protocolInWords(id: string): string | undefined {
  return WORDS.find(([beginning]) => id.startsWith(beginning))?.[1]
}
