/** Says whether a peer runs on this machine. */
import type { Libp2p } from '@libp2p/interface'
import { ipOf, isLoopbackIp } from '../addresses/address-rules.ts'
import { connectionsTo } from './connections.ts'

/** True when the peer is connected over loopback, or over one address at both ends. */
export function isSameHost(host: Pick<Libp2p, 'getMultiaddrs' | 'getConnections'>, peer: string): boolean {
  const own = new Set(host.getMultiaddrs().map(ipOf))
  return connectionsTo(host, peer).some(({ remoteAddr, direct }) => {
    const ip = ipOf(remoteAddr)
    return direct && (ip === undefined || isLoopbackIp(ip) || own.has(ip))
  })
}
