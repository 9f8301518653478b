/**
 * One connection for each peer. Two that find each other at the same moment dial both ways; of two direct connections
 * the one that the greater peer id dialled closes, at once: half a second later gossip streams would already hang on
 * it. Both ends come to the same choice, whatever software the other one runs.
 */
import type { SeenConnection } from './peer-state.ts'

/** Those of one peer's open connections that should close. `dialsFirst`: this node's id is the smaller one. */
export function superfluousConnections<C extends Pick<SeenConnection, 'direct' | 'outbound' | 'dialsBack'>>(
  dialsFirst: boolean,
  connections: readonly C[],
): readonly C[] {
  // AutoNAT closes its second connection itself; closing either would prove the address unreachable
  if (connections.some(({ dialsBack }) => dialsBack)) return []
  // two relayed connections are of no more use than one, and beside a direct one they have some seconds
  const direct = connections.filter((connection) => connection.direct)
  const rivals = direct.length > 0 ? direct : connections
  const bySmaller = ({ outbound }: C) => outbound === dialsFirst
  const kept = rivals.find(bySmaller) ?? rivals[0]
  if (kept === undefined) return []
  // of several that one side dialled, that side picks: the other may have seen them open in another order
  return rivals.filter(
    (connection) => connection !== kept && (bySmaller(connection) !== bySmaller(kept) || connection.outbound),
  )
}
