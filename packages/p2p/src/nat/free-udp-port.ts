/**
 * Looks at UDP ports before @libp2p/webrtc listens there: where it may choose one itself it asks the system for one of TCP,
 * which says nothing of UDP, and a listener that failed fails again when its host stops.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/**
 * Gives the address with a UDP port that nobody has just now in place of 0; rejects with the system's error where the port
 * is taken.
 *
 * @param address begins with an IP address and a UDP port
 */
export async function withUdpPort(address: Multiaddr): Promise<Multiaddr> {
  const [ip, udp] = address.getComponents()
  const port = await bindOnce(ip?.value ?? '', Number(udp?.value))
  return multiaddr(address.toString().replace(`/udp/${udp?.value}`, `/udp/${port}`))
}

/** Binds the port and lets it go. */
async function bindOnce(address: string, port: number): Promise<number> {
  const isV6 = address.includes(':')
  const socket = createSocket({ type: isV6 ? 'udp6' : 'udp4', ipv6Only: isV6 })
  try {
    socket.bind({ address, port, exclusive: true })
    await once(socket, 'listening')
    return socket.address().port
  } finally {
    socket.close()
  }
}
