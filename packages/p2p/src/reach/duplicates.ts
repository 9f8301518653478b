/**
 * Keeps one connection for each peer. Two peers that find each other at the same moment dial both ways. Of two direct connections
 * the one that the greater peer id dialled closes at once, before gossip streams open on it. Both ends choose the same,
 * whatever software the other runs.
 */
import { STOOD_BEFORE_MS } from '../limits.ts'
import type { SeenConnection } from './peer-state.ts'

type Rival = Pick<SeenConnection, 'direct' | 'outbound' | 'dialsBack' | 'openedAt' | 'asked' | 'used'>

/** Those of one peer's open connections that should close. `dialsFirst`: this node's id is the smaller one. */
export function superfluousConnections<C extends Rival>(
  dialsFirst: boolean,
  connections: readonly C[],
): readonly C[] {
  // AutoNAT closes its second connection itself; closing either would prove the address unreachable
  if (connections.some(({ dialsBack }) => dialsBack)) return []
  // one that stood before carries nothing any more, perhaps: the peer may have come back without it
  if (connections.some(({ asked }) => asked)) return []
  // two relayed connections are of no more use than one, and beside a direct one they have some seconds
  const direct = connections.filter((connection) => connection.direct)
  const all = direct.length > 0 ? direct : connections
  const oldest = Math.min(...all.map(({ openedAt }) => openedAt))
  const isLater = ({ openedAt }: C) => openedAt - oldest >= STOOD_BEFORE_MS
  const rivals = all.filter((connection) => !isLater(connection))
  // streams have moved to what was dialled while the first was in doubt
  const later = all.filter((connection) => isLater(connection) && connection.outbound && !connection.used)
  const bySmaller = ({ outbound }: C) => outbound === dialsFirst
  const kept = rivals.find(bySmaller) ?? rivals[0]
  if (kept === undefined) return []
  // of several that one side dialled, that side picks: the other may have seen them open in another order
  const twins = rivals.filter(
    (connection) => connection !== kept && (bySmaller(connection) !== bySmaller(kept) || connection.outbound),
  )
  return [...twins, ...later]
}
