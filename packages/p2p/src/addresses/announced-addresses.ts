/** Which of its addresses a node tells others: each relay once for each way, and no more than others keep. */
import type { Multiaddr } from '@multiformats/multiaddr'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import { type AddressRules, ipOf, isLoopbackIp, relayOf } from './address-rules.ts'

export function chooseAnnounced(addresses: readonly Multiaddr[], rules: AddressRules): Multiaddr[] {
  const allowed = addresses.filter((address) => !rules.isBlocked(address))
  const direct = allowed.filter((address) => relayOf(address) === undefined)
  return [...direct, ...oneForEachRelay(allowed)].slice(0, MAX_PEER_ADDRESSES)
}

/** Chooses the best relayed address for each relay and kind: plain, or WebRTC signalled over it. */
export function oneForEachRelay(addresses: readonly Multiaddr[]): readonly Multiaddr[] {
  const best = new Map<string, Multiaddr>()
  for (const address of addresses) {
    const relay = relayOf(address)
    if (relay === undefined) continue
    const key = `${relay} ${address.toString().includes('/webrtc/') || address.toString().endsWith('/webrtc')}`
    const known = best.get(key)
    if (known === undefined || rank(address) < rank(known)) best.set(key, address)
  }
  return [...best.values()]
}

function rank(address: Multiaddr): number {
  const ip = ipOf(address)
  const far = ip !== undefined && isLoopbackIp(ip) ? 10 : 0
  const text = address.toString().split('/p2p-circuit')[0] ?? ''
  return far + (text.includes('/tcp/') && !text.includes('/ws') ? 0 : 1)
}
