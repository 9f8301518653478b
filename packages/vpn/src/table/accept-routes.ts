/**
 * Networks behind peers (bucket `routes`): which this node takes. What is nearer wins over what a peer says: a
 * route never hides a network of the host or of the VPN (wider ones may: the longest match keeps the nearer), nor
 * takes the addresses away through which this node reaches peers.
 *
 * Default routes, and what is nearly one, reach the engine only: sent into the interface by the kernel, this
 * node's own connections would run through themselves. Leading them past would take a mark on each socket of
 * libp2p, which Node.js cannot set, so the host's route is left to the person.
 */
import type { PeerId } from '@mesh/core'
import { MAX_PEER_ROUTES, MAX_TABLE_ROUTES } from '../limits.ts'
import type { AcceptedRoute, IgnoredReason, VpnProblem } from '../vpn.ts'
import type { TableBuild, TableInput } from './build-table.ts'
import { covers, hostPrefix, isBroad, type Prefix, prefixOf } from './prefix.ts'
import { isOwnersWord, readRoute, type Route } from './read-entry.ts'
import { defaultRouteByHand, routesRefused } from './table-problems.ts'

export interface AcceptPolicy {
  /** Takes routes of every member, but default routes of none. */
  readonly any: boolean
  /** Takes all routes of these members. */
  readonly from: ReadonlySet<PeerId>
}

/** The networks that are nearer than any route, and would be hidden by a refused one. */
interface Nearer {
  readonly connected: readonly Prefix[]
  readonly ranges: readonly Prefix[]
  readonly remotes: readonly Prefix[]
}

/** The reasons of refusals that a person who accepts routes should hear of. */
const TOLD = ['connectedNetwork', 'vpnRange', 'cutsPeers', 'lostToOther', 'tooMany'] as const

export function acceptRoutes(
  input: TableInput,
  build: TableBuild,
): { readonly accepted: readonly AcceptedRoute[]; readonly problems: readonly VpnProblem[] } {
  const accepted: AcceptedRoute[] = []
  const refused = new Map<IgnoredReason, Route[]>()
  const { any, from } = input.accept
  if (!any && from.size === 0) return { accepted, problems: [] }
  const nearer = nearerThanRoutes(input)
  for (const route of liveRoutes(input, build)) {
    const reason =
      accepted.length >= MAX_TABLE_ROUTES
        ? 'tooMany'
        : (reasonAgainst(route, input.accept, nearer) ?? claimRoute(route, build, accepted))
    if (reason === undefined) continue
    build.ignore(reason)
    const others = refused.get(reason)
    if (others === undefined) refused.set(reason, [route])
    else others.push(route)
  }
  const problems = TOLD.flatMap((reason) => routesRefused(reason, refused.get(reason) ?? []))
  const byHand = accepted.filter(({ inKernel }) => !inKernel)
  return { accepted, problems: [...problems, ...defaultRouteByHand(byHand)] }
}

function* liveRoutes({ snapshot, self, mode }: TableInput, build: TableBuild): Generator<Route> {
  for (const { key, entry } of snapshot.entries('routes')) {
    if (entry.deleted) continue
    const route = readRoute(key, entry)
    if (typeof route === 'string') build.ignore(route)
    else if (route.peer === self) continue
    else if (!isOwnersWord(route.peer, entry, mode)) build.ignore('ownerMismatch')
    else if (!build.owners.isLive(entry.owner)) build.ignore('ownerDead')
    else yield route
  }
}

function reasonAgainst(
  { prefix, peer }: Route,
  { any, from }: AcceptPolicy,
  nearer: Nearer,
): IgnoredReason | undefined {
  if (!from.has(peer) && (!any || isBroad(prefix))) return 'notAccepted'
  const isIn = (range: Prefix) => covers(range, prefix)
  if (nearer.ranges.some(isIn)) return 'vpnRange'
  if (nearer.connected.some(isIn)) return 'connectedNetwork'
  if (isBroad(prefix)) return undefined
  return nearer.remotes.some((remote) => covers(prefix, remote)) ? 'cutsPeers' : undefined
}

function claimRoute(
  { range, prefix, peer, metric }: Route,
  build: TableBuild,
  accepted: AcceptedRoute[],
): IgnoredReason | undefined {
  if ((build.peers.get(peer)?.routes.length ?? 0) >= MAX_PEER_ROUTES) return 'tooMany'
  const reason = build.claim(range, peer)
  if (reason !== undefined) return reason
  build.peers.get(peer)?.routes.push(range)
  accepted.push({ range, peer, metric, inKernel: !isBroad(prefix) })
  return undefined
}

function nearerThanRoutes({ connected, advertised, ranges, remotes }: TableInput): Nearer {
  // a host whose own default route stands as a network would refuse everything
  const networks = [...connected, ...advertised].map(prefixOf).filter(({ bits }) => bits > 0)
  return { connected: networks, ranges: ranges.map(prefixOf), remotes: remotes.map(hostPrefix) }
}
