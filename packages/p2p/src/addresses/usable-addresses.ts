import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp } from './address-rules.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'

/** Leaves out loopback of other machines, circuits over this node, and names that stand for many addresses. */
export function usableAddresses(
  addresses: readonly Multiaddr[],
  { self, sameHost }: { readonly self: string; readonly sameHost: boolean },
): readonly Multiaddr[] {
  return addresses
    .filter((address) => {
      const ip = ipOf(address)
      if (address.toString().startsWith('/dnsaddr/')) return false
      return (sameHost || ip === undefined || !isLoopbackIp(ip)) && !address.toString().includes(self)
    })
    .slice(0, MAX_PEER_ADDRESSES)
}
