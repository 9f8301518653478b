/** Finds what in a table a person should know of. */
import { type IpAddress, shortPeerId } from '@mesh/core'
import { MAX_PEER_ROUTES, MAX_UNNAMED_ROUTES } from '../limits.ts'
import type { AcceptedRoute, IgnoredReason, StaticPeer, VpnProblem } from '../vpn.ts'
import type { Route } from '../addresses/read-entry.ts'

/** The most that one problem names; more are counted. */
const MAX_NAMED = 3

const ROUTE_REASONS: Partial<Record<IgnoredReason, { readonly why: string; readonly hint: string }>> = {
  connectedNetwork: {
    why: 'this machine is connected to that network itself',
    hint: 'Nothing to do: the direct route is used.',
  },
  hostRoute: {
    why: 'this machine has a route of its own',
    hint: 'Name the member to take such networks from, --accept-routes-from, or remove the route of this machine (`ip route`).',
  },
  vpnRange: {
    why: "it lies in the VPN's own range",
    hint: 'Advertise networks outside of the range of the machines.',
  },
  cutsPeers: {
    why: 'this node reaches peers at addresses in it',
    hint: 'Advertise a smaller network, or one without the public addresses of members.',
  },
  publicRange: {
    why: 'it is part of the Internet',
    hint: 'Name the member to take such networks from: --accept-routes-from.',
  },
  partOfOther: {
    why: "it is part of another member's network",
    hint: 'Name the member to take it from: --accept-routes-from.',
  },
  lostToOther: { why: 'another peer has that range', hint: 'Advertise it on one of the two.' },
  tooMany: {
    why: `one member has ${MAX_PEER_ROUTES} networks, or members that were not named have ${MAX_UNNAMED_ROUTES} in all`,
    hint: 'Name the members to take routes from: --accept-routes-from.',
  },
}

/** The problem of a guest whose address another member holds. */
export function guestTaken({
  name,
  address,
}: {
  readonly name: string
  readonly address: IpAddress
}): VpnProblem {
  return {
    code: 'vpn.guest_address_taken',
    severity: 'error',
    title: `The guest ${name} is cut off: another member has its address ${address}`,
    hint: `Give it another one: \`mesh guest remove ${name}\`, then \`mesh guest add ${name}\`.`,
  }
}

/**
 * The problem of all routes that were refused for one reason; none where a person need not hear of it.
 * @param routes all of them, or as many as are named
 */
export function routesRefused(
  reason: IgnoredReason,
  routes: readonly Route[],
  count = routes.length,
): VpnProblem[] {
  const text = ROUTE_REASONS[reason]
  if (text === undefined || routes.length === 0) return []
  const names = named(routes, ({ range, peer }) => `${range} of ${shortPeerId(peer)}`, count)
  return [
    {
      code: 'vpn.route_not_taken',
      severity: 'warning',
      title: `Not routed, because ${text.why}: ${names}`,
      hint: text.hint,
    },
  ]
}

export function defaultRouteByHand(routes: readonly AcceptedRoute[]): VpnProblem[] {
  if (routes.length === 0) return []
  return [
    {
      code: 'vpn.default_route_by_hand',
      severity: 'warning',
      title: `The host's default route was not changed for ${named(routes, ({ range, peer }) => `${range} of ${shortPeerId(peer)}`)}`,
      hint:
        "It would lead this node's own connections into the VPN. Send chosen traffic into the interface by a rule " +
        'of the host: `ip rule add from ADDRESS table 100`, `ip route add default dev INTERFACE table 100`.',
    },
  ]
}

export function noRouter(router: IpAddress, isOwn: boolean): VpnProblem {
  return {
    code: 'vpn.no_router',
    severity: 'warning',
    title: isOwn
      ? `--router ${router} is this node itself`
      : `The router ${router} is no live machine of this VPN`,
    hint: isOwn
      ? 'Give the VPN address of another machine.'
      : 'Packets for addresses that nobody owns are dropped until that machine is there.',
  }
}

export function staticOutside(peers: readonly StaticPeer[]): VpnProblem {
  return {
    code: 'vpn.static_peer_outside',
    severity: 'warning',
    title: `Not routed, because it lies outside of the VPN's ranges: ${named(peers, ({ address }) => address)}`,
    hint: 'Entries of --static-peertable must lie in the range of an --address.',
  }
}

function named<T>(all: readonly T[], name: (one: T) => string, count = all.length): string {
  const more = count - Math.min(all.length, MAX_NAMED)
  return all.slice(0, MAX_NAMED).map(name).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
