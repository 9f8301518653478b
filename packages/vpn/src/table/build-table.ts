/**
 * Which peer owns which addresses: pure, from the ledger as it is at `now` and what the person asked for. 1 the
 * machines, of the ledger or of the static table; 2 the router for what nobody else owns; 3 the networks behind
 * peers that this node accepts. The engine's form of it, with the tunnels, comes after (`engine-table.ts`).
 */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { Guest } from '../guests/guest-file.ts'
import type { AcceptedRoute, IgnoredReason, VpnProblem } from '../vpn.ts'
import { acceptRoutes } from './accept-routes.ts'
import type { ExitChoice } from './choose-exit.ts'
import { TableBuild, type TablePeer } from './table-build.ts'
import type { HeldRoute, TableInput } from './table-input.ts'

export interface VpnTable {
  readonly peers: ReadonlyMap<PeerId, TablePeer>
  /** Guests of this node whose address no live peer holds. */
  readonly guests: readonly Guest[]
  /** Undefined where no exit was asked for. */
  readonly exit: ExitChoice | undefined
  readonly accepted: readonly AcceptedRoute[]
  /** The routers that would take over from those of accepted routes. */
  readonly standby: readonly HeldRoute[]
  /** The accepted routes that the kernel gets. */
  readonly kernelRoutes: readonly Cidr[]
  readonly ignored: Readonly<Partial<Record<IgnoredReason, number>>>
  readonly problems: readonly VpnProblem[]
  /** This node's addresses, without those that a live peer holds in the ledger. */
  readonly own: readonly IpAddress[]
  /** Owners without a heartbeat; when one comes, the table changes. */
  readonly silent: ReadonlySet<string>
  /** When the first of the other owners has no heartbeat any more, in Unix ms; undefined: never. */
  readonly expiresAt: number | undefined
}

/** The members of which one takes the place of another: routers of one network, and exits. Those in use come first. */
export function contestedIn({ accepted, standby, exit }: VpnTable): ReadonlySet<PeerId> {
  const ranges = new Set(standby.map(({ range }) => range))
  const inUse = accepted.filter(({ range }) => ranges.has(range)).map(({ peer }) => peer)
  const exits = exit?.state === 'chosen' && exit.standby.length > 0 ? [exit.offer.peer, ...exit.standby] : []
  return new Set([...exits.slice(0, 1), ...inUse, ...exits, ...standby.map(({ peer }) => peer)])
}

/** Builds a table at once. */
export function buildTable(input: TableInput): VpnTable {
  const steps = tableSteps(input)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Builds a table in steps of a moment: a ledger may hold tens of thousands of machines, and more routes. */
export function* tableSteps(input: TableInput): Generator<void, VpnTable> {
  const build = new TableBuild(input)
  if (input.staticPeers.length > 0) build.addStaticPeers()
  else yield* build.addMachines()
  build.addGuests()
  build.addRouter()
  const exit = build.addExit()
  const routes = yield* acceptRoutes(input, build)
  return {
    peers: build.peers,
    guests: build.guests,
    exit,
    accepted: routes.accepted,
    standby: routes.standby,
    kernelRoutes: routes.accepted.filter(({ inKernel }) => inKernel).map(({ range }) => range),
    ignored: build.ignored,
    problems: [...build.problems, ...routes.problems],
    own: build.own,
    silent: build.owners.silent,
    expiresAt: build.owners.expiresAt(),
  }
}
