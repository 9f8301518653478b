/**
 * Chooses which networks behind peers (bucket `routes`) this node takes. A route never hides a network of the host or of the
 * VPN; wider ones may, because the longest match keeps the nearer. It never takes the addresses by which this node reaches
 * peers. Members that the user did not name get no part of the Internet, no network to which the host has a route, and no
 * part of a network that another member had first. Of several routers of one network the best one is taken
 * (`order-routes.ts`), and the others stand by.
 *
 * Default routes, and nearly default ones, reach the engine only. In the kernel, this node's own connections would run through
 * themselves. `--exit-node` is for the rest of the machine.
 */
import type { Cidr } from '@mesh/core'
import { MAX_PEER_ROUTES, MAX_TABLE_ROUTES, MAX_UNNAMED_ROUTES, STEP_ENTRIES } from '../limits.ts'
import type { AcceptedRoute, IgnoredReason, VpnProblem } from '../vpn.ts'
import type { TableBuild } from './table-build.ts'
import type { AcceptPolicy, HeldRoute, TableInput } from './table-input.ts'
import {
  covers,
  holdsPrivate,
  hostPrefix,
  isBroad,
  isPublic,
  type Prefix,
  prefixOf,
} from '../addresses/prefix.ts'
import type { Route } from '../addresses/read-entry.ts'
import { inOrder } from './order-routes.ts'
import { chooseRouteEntries } from './route-entries.ts'
import { defaultRouteByHand, routesRefused } from './table-problems.ts'

/** The networks that are nearer than any route, and would be hidden by a refused one. */
interface Nearer {
  readonly connected: readonly Prefix[]
  readonly routed: readonly Prefix[]
  readonly ranges: readonly Prefix[]
  readonly remotes: readonly Prefix[]
}

/** The reasons of refusals that a person who accepts routes should hear of. */
const TOLD = [
  'connectedNetwork',
  'hostRoute',
  'vpnRange',
  'cutsPeers',
  'publicRange',
  'partOfOther',
  'lostToOther',
  'tooMany',
] as const

interface AcceptedRoutes {
  readonly accepted: readonly AcceptedRoute[]
  /** The routers that would take over from those of the accepted routes. */
  readonly standby: readonly HeldRoute[]
  readonly problems: readonly VpnProblem[]
}

/** Takes routes into a table, in steps as its machines. */
export function* acceptRoutes(input: TableInput, build: TableBuild): Generator<void, AcceptedRoutes> {
  const { any, from } = input.accept
  if (!any && from.size === 0) return { accepted: [], standby: [], problems: [] }
  const choice = new RouteChoice(input, build)
  const refused = new Map<IgnoredReason, Route[]>()
  const { routes, left, leftCount } = yield* chooseRouteEntries(input, build)
  let seen = 0
  for (const route of inOrder(routes, input)) {
    if (++seen % STEP_ENTRIES === 0) yield
    const reason = choice.take(route)
    if (reason === undefined) continue
    build.ignore(reason)
    const others = refused.get(reason)
    if (others === undefined) refused.set(reason, [route])
    else others.push(route)
  }
  build.ignore('tooMany', leftCount)
  const { accepted, standby } = choice
  const problems = TOLD.flatMap((reason) => {
    const all = refused.get(reason) ?? []
    if (reason !== 'tooMany') return routesRefused(reason, all)
    return routesRefused(reason, [...all, ...left], all.length + leftCount)
  })
  const byHand = accepted.filter(({ inKernel }) => !inKernel)
  return { accepted, standby, problems: [...problems, ...defaultRouteByHand(byHand)] }
}

/** Takes routes one after the other, each against those that were taken before. */
class RouteChoice {
  readonly accepted: AcceptedRoute[] = []
  readonly standby: HeldRoute[] = []
  readonly #accept: AcceptPolicy
  readonly #nearer: Nearer
  readonly #build: TableBuild
  readonly #taken: Route[] = []
  readonly #takenRanges = new Set<Cidr>()
  #unnamed = 0

  constructor(input: TableInput, build: TableBuild) {
    this.#accept = input.accept
    this.#nearer = nearerThanRoutes(input)
    this.#build = build
  }

  /** @returns the reason why a route is not taken */
  take(route: Route): IgnoredReason | undefined {
    if (this.accepted.length >= MAX_TABLE_ROUTES) return 'tooMany'
    const isNamed = this.#accept.from.has(route.peer)
    const reason =
      reasonAgainst(route, this.#accept, this.#nearer) ??
      (isNamed ? undefined : this.#reasonAgainstUnnamed(route)) ??
      (this.#takenRanges.has(route.range) ? 'standby' : claimRoute(route, this.#build, this.accepted))
    if (reason === 'standby') {
      this.standby.push({ range: route.range, peer: route.peer })
      return undefined
    }
    if (reason !== undefined) return reason
    this.#taken.push(route)
    this.#takenRanges.add(route.range)
    if (!isNamed) this.#unnamed++
    return undefined
  }

  #reasonAgainstUnnamed({ range, prefix, peer }: Route): IgnoredReason | undefined {
    if (isPublic(prefix)) return 'publicRange'
    if (this.#nearer.routed.some((range) => covers(range, prefix))) return 'hostRoute'
    if (this.#unnamed >= MAX_UNNAMED_ROUTES) return 'tooMany'
    const isOther = (other: Route) => other.peer !== peer && other.range !== range
    const isPart = this.#taken.some((other) => isOther(other) && covers(other.prefix, prefix))
    return isPart ? 'partOfOther' : undefined
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

function nearerThanRoutes({ connected, routed, advertised, ranges, remotes }: TableInput): Nearer {
  // a host whose own default route stands as a network would refuse everything
  const networks = [...connected, ...advertised].map(prefixOf).filter(({ bits }) => bits > 0)
  // one that is nearly a default route, as another VPN has, hides nothing either; of the Internet nothing is taken anyway
  const byRoute = routed.map(prefixOf).filter((prefix) => !isBroad(prefix) && holdsPrivate(prefix))
  return {
    connected: networks,
    routed: byRoute,
    ranges: ranges.map(prefixOf),
    remotes: remotes.map(hostPrefix),
  }
}
