/** Bootstrap peers: addresses that a person gave, each of which must name its peer. */
import { type Issue, MeshError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { peerIn, tryParseMultiaddr } from '../addresses/address-rules.ts'
import type { Find } from './find.ts'

/**
 * Gives one find for each peer that the addresses name.
 *
 * @throws MeshError `p2p.bad_bootstrap_peer` with a reason for each address that cannot be used
 */
export function parseBootstrapPeers(texts: readonly string[]): readonly Find[] {
  const addresses = new Map<string, Multiaddr[]>()
  const issues: Issue[] = []
  for (const text of texts) {
    const address = tryParseMultiaddr(text)
    const peer = address?.getComponents().at(-1)?.name === 'p2p' ? peerIn(address) : undefined
    if (address === undefined || peer === undefined) issues.push(issueFor(text, address !== undefined))
    else addresses.set(peer, [...(addresses.get(peer) ?? []), address])
  }
  if (issues.length === 0)
    return [...addresses].map(([peer, own]) => ({ peer, addresses: own, kind: 'configured' }))
  const first = issues[0]
  throw new MeshError('p2p.bad_bootstrap_peer', `not a bootstrap peer: ${first?.value ?? ''}`, {
    issues,
    hint: 'A bootstrap peer looks like /ip4/203.0.113.7/tcp/4001/p2p/12D3KooW...',
  })
}

function issueFor(text: string, parsed: boolean): Issue {
  return {
    field: 'bootstrapPeers',
    value: text.slice(0, 200),
    expected: parsed ? 'an address that ends with /p2p/ and the peer id' : 'a multiaddr',
  }
}
