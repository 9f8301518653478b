/**
 * Orders routes, and the routers of one network where there are several. First comes a member that the user
 * named, a router that is reached, the lower metric, the router in use, the shorter round trip. Pure.
 */
import type { Cidr, PeerId } from '@mesh/core'
import type { PeerReach } from './peer-reach.ts'
import type { DatedRoute } from './route-entries.ts'
import type { TableInput } from './table-input.ts'

const UNKNOWN: PeerReach = { isUp: true, isSteady: true, rttMs: undefined }

/** Routes of named members first, then those that the table has already, then the older and the wider ones. */
export function inOrder(routes: readonly DatedRoute[], input: TableInput): readonly DatedRoute[] {
  const { accept } = input
  const rank = ({ peer, isHeld }: DatedRoute) => (accept.from.has(peer) ? 0 : isHeld ? 1 : 2)
  const sorted = routes.toSorted((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) - rank(b)
    if (a.version !== b.version) return a.version < b.version ? -1 : 1
    return a.prefix.bits - b.prefix.bits
  })
  return withBestFirst(sorted, input)
}

/** Routers of one network share its places in the order: the best one has the first of them. */
function withBestFirst(sorted: readonly DatedRoute[], input: TableInput): readonly DatedRoute[] {
  const byRange = new Map<Cidr, DatedRoute[]>()
  for (const route of sorted) {
    const others = byRange.get(route.range)
    if (others === undefined) byRange.set(route.range, [route])
    else others.push(route)
  }
  if (byRange.size === sorted.length) return sorted
  const compare = compareRouters(input)
  const groups = new Map<Cidr, DatedRoute[]>()
  for (const [range, group] of byRange)
    groups.set(range, group.length === 1 ? group : group.toSorted(compare))
  return sorted.flatMap(({ range }) => groups.get(range)?.shift() ?? [])
}

function compareRouters({ accept, reachOf = () => UNKNOWN }: TableInput) {
  const reaches = new Map<PeerId, PeerReach>()
  const reach = (peer: PeerId) => {
    const known = reaches.get(peer) ?? reachOf(peer)
    reaches.set(peer, known)
    return known
  }
  const keysOf = (route: DatedRoute): readonly number[] => {
    const { isUp, isSteady, rttMs } = reach(route.peer)
    return [
      accept.from.has(route.peer) ? 0 : 1,
      !isUp ? 2 : isSteady || route.isHeld ? 0 : 1,
      route.metric,
      route.isHeld ? 0 : 1,
      rttMs ?? Number.MAX_VALUE,
    ]
  }
  return (one: DatedRoute, other: DatedRoute): number => {
    const [a, b] = [keysOf(one), keysOf(other)]
    const at = a.findIndex((key, index) => key !== b[index])
    if (at !== -1) return (a[at] ?? 0) - (b[at] ?? 0)
    return one.version === other.version
      ? one.peer < other.peer
        ? -1
        : 1
      : one.version < other.version
        ? -1
        : 1
  }
}
