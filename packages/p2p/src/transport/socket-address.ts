/** The address of a socket's other side. */
import type { Socket } from 'node:net'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** Gives the address of the other side. @throws Error when it has gone already */
export function remoteAddressOf({
  remoteAddress,
  remotePort = 0,
}: Pick<Socket, 'remoteAddress' | 'remotePort'>): Multiaddr {
  const ip = plainIp(remoteAddress)
  if (ip === undefined) throw new Error('the other side has gone')
  return multiaddr(`/ip${ip.includes(':') ? 6 : 4}/${ip}/tcp/${remotePort}`)
}

/** Gives an IP address without its zone, and IPv4 as such where Node writes it into IPv6. */
export function plainIp(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}
