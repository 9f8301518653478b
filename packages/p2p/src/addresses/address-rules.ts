/** Which libp2p addresses may be dialled, accepted and told to others. */
import { type Cidr, cidrContains, type IpAddress, tryParseIp } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

export interface AddressRules {
  /** True for an address in a range that libp2p must keep out of: the VPN's own would route libp2p through itself. */
  isBlocked(address: Multiaddr): boolean
  isBlockedIp(ip: IpAddress): boolean
  /** Replaces the ranges that are kept out. */
  block(ranges: readonly Cidr[]): void
}

/** Creates the rules with the ranges that are kept out at first. */
export function createAddressRules(ranges: readonly Cidr[]): AddressRules {
  let blockedRanges = ranges
  const isBlockedIp = (ip: IpAddress) => blockedRanges.some((range) => cidrContains(range, ip))
  return {
    isBlockedIp,
    block(replacement) {
      blockedRanges = replacement
    },
    isBlocked(address) {
      const ip = ipOf(address)
      return ip !== undefined && isBlockedIp(ip)
    },
  }
}

/** Gives the first IP address in a multiaddr, which is the relay's in a relayed one; undefined for names and other networks. */
export function ipOf(address: Multiaddr): IpAddress | undefined {
  for (const { name, value } of address.getComponents()) {
    if ((name === 'ip4' || name === 'ip6') && value !== undefined) return unmapped(value)
  }
  return undefined
}

/** IPv4 written as IPv6 (`::ffff:10.1.0.1`) is the IPv4 address, or ranges could be walked around. */
function unmapped(text: string): IpAddress | undefined {
  const ip = tryParseIp(text)
  const mapped = ip === undefined ? null : /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(ip)
  if (mapped === null) {
    const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)
    return dotted?.[1] === undefined ? ip : tryParseIp(dotted[1])
  }
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)]
  return tryParseIp(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`)
}

/** True for 127.0.0.0/8 and ::1. */
export function isLoopbackIp(ip: IpAddress): boolean {
  return ip === '::1' || ip.startsWith('127.')
}

/** True for an address that leads over a relay and no further, as `/p2p-circuit/webrtc` does. */
export function isRelayed(address: Multiaddr): boolean {
  const names = address.getComponents().map(({ name }) => name)
  return names.includes('p2p-circuit') && !names.includes('webrtc')
}

/** Gives the peer that the address leads to: its last `/p2p/` part. */
export function peerIn(address: Multiaddr): string | undefined {
  return address.getComponents().findLast(({ name }) => name === 'p2p')?.value
}

/** Gives what carries the bytes: `tcp`, `ws`, `quic-v1`, `webrtc-direct`, `webrtc`, `memory` and the like. */
export function transportOf(address: Multiaddr): string | undefined {
  const names = address.getComponents().map(({ name }) => name)
  const known = ['webrtc', 'webrtc-direct', 'webtransport', 'quic-v1', 'wss', 'ws', 'tcp', 'memory']
  const relay = names.lastIndexOf('p2p-circuit')
  const last = relay === -1 || names.includes('webrtc') ? names : names.slice(0, relay)
  return known.find((name) => last.includes(name))
}

/** Gives the relay that an address leads over; undefined for one that leads straight to its peer. */
export function relayOf(address: Multiaddr): string | undefined {
  const components = address.getComponents()
  const circuit = components.findIndex(({ name }) => name === 'p2p-circuit')
  if (circuit === -1) return undefined
  return components.slice(0, circuit).findLast(({ name }) => name === 'p2p')?.value
}

/** Undefined for a text that is no multiaddr. */
export function tryParseMultiaddr(text: string): Multiaddr | undefined {
  try {
    return multiaddr(text)
  } catch {
    return undefined
  }
}
