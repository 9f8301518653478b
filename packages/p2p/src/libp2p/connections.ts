import type { Connection, Libp2p } from '@libp2p/interface'

/** Gives the open connections to one peer, direct ones first. */
export function connectionsTo(host: Pick<Libp2p, 'getConnections'>, peer: string): readonly Connection[] {
  return host
    .getConnections()
    .filter(({ remotePeer, status }) => status === 'open' && remotePeer.toString() === peer)
    .sort((a, b) => Number(b.direct) - Number(a.direct))
}

/** Gives, for each connected peer, the connection to use: a direct one where there is one. */
export function bestConnections(host: Pick<Libp2p, 'getConnections'>): ReadonlyMap<string, Connection> {
  const best = new Map<string, Connection>()
  for (const connection of host.getConnections()) {
    if (connection.status !== 'open') continue
    const peer = connection.remotePeer.toString()
    const known = best.get(peer)
    if (known === undefined || (connection.direct && !known.direct)) best.set(peer, connection)
  }
  return best
}
