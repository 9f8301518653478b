/**
 * One connection for each peer. Two that find each other at the same moment dial both ways; of two direct connections
 * the one that the greater peer id dialled closes, at once: half a second later gossip streams would already hang on
 * it. Both ends come to the same choice, whatever software the other one runs.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import { AUTONAT_REQUEST_PROTOCOL } from '../protocols.ts'

/** @returns stops watching */
export function closeDuplicates(host: Libp2p): () => void {
  const self = host.peerId.toString()
  const onOpen = (event: CustomEvent<Connection>) => {
    const { remotePeer } = event.detail
    const open = new Set([...host.getConnections(remotePeer), event.detail])
    if (isDialledBack([...open])) return
    for (const connection of superfluous(self, [...open])) {
      connection.close().catch((error: unknown) => connection.abort(toError(error)))
    }
  }
  host.addEventListener('connection:open', onOpen)
  return () => host.removeEventListener('connection:open', onOpen)
}

/** AutoNAT tries an address by a second connection, which it closes itself; closing either would prove it unreachable. */
export function isDialledBack(
  connections: readonly { readonly streams: readonly { readonly protocol: string }[] }[],
): boolean {
  return connections.some(({ streams }) =>
    streams.some(({ protocol }) => protocol === AUTONAT_REQUEST_PROTOCOL),
  )
}

/** Those of one peer's connections that should close. */
export function superfluous<
  C extends Pick<Connection, 'direct' | 'direction' | 'remotePeer' | 'status' | 'timeline'>,
>(self: string, connections: readonly C[]): readonly C[] {
  const direct = connections.filter((connection) => connection.direct && connection.status === 'open')
  if (direct.length === 0) return extraRelayed(connections)
  const ours = (connection: C) => connection.direction === 'outbound'
  const bySmaller = (connection: C) => ours(connection) === self < connection.remotePeer.toString()
  const kept = direct.find(bySmaller) ?? direct[0]
  if (kept === undefined) return []
  // of several that one side dialled, that side picks: the other may have seen them open in another order
  return direct.filter(
    (connection) => connection !== kept && (bySmaller(connection) !== bySmaller(kept) || ours(connection)),
  )
}

/** Two relayed connections are of no more use than one. */
function extraRelayed<C extends Pick<Connection, 'direction' | 'status'>>(
  connections: readonly C[],
): readonly C[] {
  const mine = connections.filter(({ direction, status }) => status === 'open' && direction === 'outbound')
  return mine.slice(1)
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
