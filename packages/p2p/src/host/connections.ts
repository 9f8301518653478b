import type { Connection, Libp2p } from '@libp2p/interface'

/** The open ones of one peer, direct ones first. */
export function connectionsTo(host: Pick<Libp2p, 'getConnections'>, peer: string): readonly Connection[] {
  return host
    .getConnections()
    .filter(({ remotePeer, status }) => status === 'open' && remotePeer.toString() === peer)
    .sort((a, b) => Number(b.direct) - Number(a.direct))
}
