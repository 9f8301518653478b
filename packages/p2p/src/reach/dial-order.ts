/** Orders the addresses of one peer for a dial, and says how long each is tried alone. Pure. */
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp, isRelayed, transportOf } from '../addresses/address-rules.ts'
import { DIAL_STAGGER_MS, RELAY_STAGGER_MS } from './limits.ts'

const PREFERENCE = ['memory', 'tcp', 'quic-v1', 'ws', 'wss', 'webrtc-direct']

/** Loopback, then the other direct addresses by how well their transport does, then relayed ones. */
export function inDialOrder(addresses: readonly Multiaddr[]): readonly Multiaddr[] {
  const rank = (address: Multiaddr) => {
    if (isRelayed(address)) return 100
    const ip = ipOf(address)
    const transport = PREFERENCE.indexOf(transportOf(address) ?? '')
    return (ip !== undefined && isLoopbackIp(ip) ? 0 : 10) + (transport === -1 ? 9 : transport)
  }
  return addresses.toSorted((a, b) => rank(a) - rank(b))
}

/** How long `address` is tried before `next` is tried beside it, in ms. */
export function headStartMs(address: Multiaddr, next: Multiaddr): number {
  return isRelayed(next) && !isRelayed(address) ? RELAY_STAGGER_MS : DIAL_STAGGER_MS
}
