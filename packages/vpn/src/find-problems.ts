/** The problems of a VPN that a person should know of, gathered from its parts; and how many members are near. */
import { BUCKETS, type Cidr, type PeerId, shortPeerId } from '@mesh/core'
import { checkNotTaken, findClashes } from './addresses/check-addresses.ts'
import type { TableApplier } from './apply-table.ts'
import { exitProblems } from './exit-problems.ts'
import type { Guests } from './guests/guests.ts'
import type { OwnRules } from './rules/own-rules.ts'
import type { OwnAddresses } from './own-addresses.ts'
import { networkInRange, noIpv6, notForwarding, problemOf, routesNotSet } from './vpn-problems.ts'
import type { VpnTable } from './table/build-table.ts'
import { DEFAULT_ROUTES } from './addresses/prefix.ts'
import { VPN_PROTOCOL } from './wire/limits.ts'
import type { Tunnels } from './tunnels/tunnels.ts'
import type { VpnComponents, VpnExitStatus, VpnInit, VpnProblem } from './vpn.ts'

interface FindProblemsInput extends Pick<VpnComponents, 'ledger' | 'host' | 'clock'> {
  readonly init: VpnInit
  /** The interface was taken away, or something of it. */
  readonly interfaceProblem: VpnProblem | undefined
  /** The ranges of this node's addresses, or the one in which it leases. */
  readonly ranges: readonly Cidr[]
  readonly own: OwnAddresses
  readonly applier: Pick<TableApplier, 'addressesError' | 'routesError'> | undefined
  /** All that starting waits for is there. */
  readonly isUp: boolean
  /** Undefined: there is no interface. */
  readonly tunnels: Pick<Tunnels, 'chosenOf'> | undefined
  readonly guests: Guests
  readonly rules: Pick<OwnRules, 'problems'>
  readonly exit: VpnExitStatus | undefined
  readonly table: VpnTable | undefined
}

export function findProblems(input: FindProblemsInput): readonly VpnProblem[] {
  const { init, interfaceProblem, own, applier, isUp, guests, exit, table, ledger, host, clock } = input
  const errors = [applier?.addressesError, own.leaseError].filter((error) => error !== undefined)
  return [
    ...(interfaceProblem === undefined ? [] : [interfaceProblem]),
    ...(input.tunnels === undefined ? [] : clashProblems(input)),
    ...errors.map((error) => problemOf(error)),
    ...(isUp ? checkNotTaken(own.all(), ledger, clock.now()).map((error) => problemOf(error)) : []),
    ...(host.hasIpv6() ? [] : [noIpv6(init.interface)]),
    ...(applier?.routesError === undefined ? [] : [routesNotSet(applier.routesError)]),
    ...(input.tunnels === undefined ? [] : forwardingProblems(init, host)),
    ...legacyProblems(input),
    ...input.rules.problems(),
    ...guests.problems(),
    ...exitProblems(exit, table?.exit),
    ...(host.problems?.() ?? []),
    ...(table?.problems ?? []),
  ]
}

/** A network of this machine that came after the start: before it, such a clash is an error. */
function clashProblems({ ranges, host, init }: FindProblemsInput): readonly VpnProblem[] {
  return findClashes(ranges, host.networks(), init.interface).map(networkInRange)
}

/** Gives the members that a claim has to reach: those connected that the ledger knows, or that speak the VPN's protocol. */
export function listNeighbours({
  ledger,
  network,
}: Pick<VpnComponents, 'ledger' | 'network'>): readonly string[] {
  const found = new Set<string>(network.channels.peersWith(VPN_PROTOCOL))
  for (const { key, entry } of ledger.snapshot().entries(BUCKETS.healthcheck)) {
    if (!entry.deleted && network.pathOf(key as PeerId) !== undefined) found.add(key)
  }
  return [...found]
}

function forwardingProblems(
  { advertiseRoutes = [], advertiseExit = false }: VpnInit,
  host: VpnComponents['host'],
) {
  return [
    ...notForwarding(advertiseRoutes, host),
    ...(advertiseExit ? notForwarding(DEFAULT_ROUTES, host, 'An exit is offered') : []),
  ]
}

/** The kernel's WireGuard has nothing to say to members without it. */
function legacyProblems({ init, table, tunnels }: FindProblemsInput): readonly VpnProblem[] {
  if (init.wireguard !== 'kernel' || table === undefined || tunnels === undefined) return []
  const legacy = [...table.peers].filter(([peer]) => tunnels.chosenOf(peer).tunnel.kind === 'legacy')
  const [first] = legacy
  if (first === undefined) return []
  const [peer, { hostname }] = first
  return [
    {
      code: 'vpn.kernel_legacy',
      severity: 'warning',
      title: `${legacy.length} EdgeVPN-compatible members are not reached by the kernel's WireGuard: ${hostname || shortPeerId(peer)}${legacy.length > 1 ? ' and others' : ''}`,
      hint: 'Start this node with --wireguard engine.',
    },
  ]
}
