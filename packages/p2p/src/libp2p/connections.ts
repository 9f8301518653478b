import type { Connection, Libp2p } from '@libp2p/interface'
import { ipOf, isLoopbackIp, relayOf } from '../addresses/address-rules.ts'
import { isInDoubt } from './liveness.ts'

/** Gives the open connections to one peer that are not in doubt, direct ones first. */
export function connectionsTo(host: Pick<Libp2p, 'getConnections'>, peer: string): readonly Connection[] {
  return allConnectionsTo(host, peer)
    .filter((connection) => !isInDoubt(connection))
    .sort((a, b) => Number(b.direct) - Number(a.direct))
}

/** Gives the open connections to one peer, those in doubt too. */
export function allConnectionsTo(host: Pick<Libp2p, 'getConnections'>, peer: string): readonly Connection[] {
  return host
    .getConnections()
    .filter(({ remotePeer, status }) => status === 'open' && remotePeer.toString() === peer)
}

/** Gives, for each connected peer, the connection to use: a direct one where there is one, and none that is in doubt. */
export function bestConnections(host: Pick<Libp2p, 'getConnections'>): ReadonlyMap<string, Connection> {
  const best = new Map<string, Connection>()
  for (const connection of host.getConnections()) {
    if (connection.status !== 'open' || isInDoubt(connection)) continue
    const peer = connection.remotePeer.toString()
    const known = best.get(peer)
    if (known === undefined || (connection.direct && !known.direct)) best.set(peer, connection)
  }
  return best
}

/** Gives the peer that a relayed connection goes over; undefined for a direct one, and for a relay that is not connected. */
export function relayOfConnection(
  host: Pick<Libp2p, 'getConnections'>,
  { direct, remoteAddr }: Pick<Connection, 'direct' | 'remoteAddr'>,
): string | undefined {
  if (direct) return undefined
  const named = relayOf(remoteAddr)
  if (named !== undefined) return named
  // a relay that dialled this node has an address without an id
  const [relayAt] = remoteAddr.toString().split('/p2p-circuit')
  const isRelay = (other: Connection) => other.direct && other.remoteAddr.toString() === relayAt
  return host.getConnections().find(isRelay)?.remotePeer.toString()
}

/** True when the peer is connected over loopback, or over one address at both ends. */
export function isSameHost(host: Pick<Libp2p, 'getMultiaddrs' | 'getConnections'>, peer: string): boolean {
  const own = new Set(host.getMultiaddrs().map(ipOf))
  return connectionsTo(host, peer).some(({ remoteAddr, direct }) => {
    const ip = ipOf(remoteAddr)
    return direct && (ip === undefined || isLoopbackIp(ip) || own.has(ip))
  })
}
