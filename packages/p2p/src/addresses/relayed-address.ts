import type { Multiaddr } from '@multiformats/multiaddr'

/** Gives the relay that an address leads over; undefined for one that leads straight to its peer. */
export function relayOf(address: Multiaddr): string | undefined {
  const components = address.getComponents()
  const circuit = components.findIndex(({ name }) => name === 'p2p-circuit')
  return circuit === -1
    ? undefined
    : components.slice(0, circuit).findLast(({ name }) => name === 'p2p')?.value
}
