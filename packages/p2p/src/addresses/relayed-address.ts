import type { Multiaddr } from '@multiformats/multiaddr'

/** The relay between `/p2p/` and `/p2p-circuit`; undefined for addresses that lead straight to their peer. */
export function relayOf(address: Multiaddr): string | undefined {
  const components = address.getComponents()
  const circuit = components.findIndex(({ name }) => name === 'p2p-circuit')
  return circuit === -1
    ? undefined
    : components.slice(0, circuit).findLast(({ name }) => name === 'p2p')?.value
}
