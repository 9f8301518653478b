/** The networks that this node routes for others: they are announced in `routes`, and ended there at the end. */
import { BUCKETS, type Cidr, delay, parseProviderKey } from '@mesh/core'
import { announceProvided, type Entry, furtherProviders } from '@mesh/ledger'
import { MAX_OTHER_ROUTERS, WITHDRAW_MS } from './limits.ts'
import type { VpnLedger } from './ports.ts'
import { readRoute, type Route } from './addresses/read-entry.ts'
import type { VpnTable } from './table/build-table.ts'
import { DEFAULT_ROUTES } from './addresses/prefix.ts'
import type { OwnRoute, VpnComponents, VpnInit } from './vpn.ts'

/** Gives the networks behind this node from which it takes packets: an exit takes all that members have for the Internet. */
export function receivedRanges({ advertiseRoutes = [], advertiseExit }: VpnInit): readonly Cidr[] {
  return advertiseExit === true ? [...advertiseRoutes, ...DEFAULT_ROUTES] : advertiseRoutes
}

/** True when what is for the Internet has a way from here: through a member that was chosen, or out of this machine. */
export function hasExit(
  { advertiseExit }: Pick<VpnInit, 'advertiseExit'>,
  table: Pick<VpnTable, 'peers' | 'exit'> | undefined,
): boolean {
  // before there is a table nobody can say that there is none
  if (advertiseExit === true || table === undefined || table.exit !== undefined) return true
  return [...table.peers.values()].some(({ allowed }) =>
    allowed.some((range) => DEFAULT_ROUTES.includes(range)),
  )
}

/** Gives what the kernel routes into the VPN; a default route is a matter of marks, and hides nobody. */
export function routedRanges(ranges: readonly Cidr[], kernelRoutes: readonly Cidr[] = []): readonly Cidr[] {
  return [...ranges, ...kernelRoutes.filter((range) => !range.endsWith('/0'))]
}

/**
 * Must be called when the node knows what others hold. The returned function withdraws the routes, within a
 * second.
 */
export function announceRoutes(
  { advertiseRoutes: routes = [], routeMetrics }: Pick<VpnInit, 'advertiseRoutes' | 'routeMetrics'>,
  { ledger, announce, clock }: Pick<VpnComponents, 'ledger' | 'announce' | 'clock'>,
): () => Promise<void> {
  for (const key of ownRoutes(ledger))
    if (!routes.some((range) => range === key)) ledger.delete(BUCKETS.routes, key)
  for (const { key, name } of ownFurther(ledger))
    if (!routes.some((range) => range === name)) ledger.delete(BUCKETS.providers, key)
  const valueText = (range: Cidr) =>
    JSON.stringify({ PeerID: ledger.self, Metric: routeMetrics?.get(range) ?? 0 })
  const ends = routes.map((range) =>
    announceProvided(
      { bucket: BUCKETS.routes, name: range, valueText: () => valueText(range) },
      { ledger, announce, clock },
    ),
  )
  return async () => {
    // others would send packets to nobody until this node's lease ends
    const written = Promise.all(ends.map((end) => end()))
    const done = new AbortController()
    void written.finally(() => done.abort())
    await Promise.race([written, delay(clock, WITHDRAW_MS, done.signal).catch(() => {})])
  }
}

/** Says of each network of this node who else advertises it, and whether another router goes first. */
export function ownRoutesStatus(
  { advertiseRoutes = [], routeMetrics }: Pick<VpnInit, 'advertiseRoutes' | 'routeMetrics'>,
  { ledger, clock }: Pick<VpnComponents, 'ledger' | 'clock'>,
): readonly OwnRoute[] {
  return advertiseRoutes.map((range) => {
    const metric = routeMetrics?.get(range) ?? 0
    const others = othersOf(range, { ledger, clock })
    const isFirst = others.every((other) => other.metric >= metric)
    const peers = [...new Set(others.map(({ peer }) => peer))]
    return { range, metric, state: isFirst ? 'active' : 'standby', others: peers }
  })
}

/** The other live members that advertise a network: the owner of its key, and those beside it. */
function othersOf(
  range: Cidr,
  { ledger, clock }: Pick<VpnComponents, 'ledger' | 'clock'>,
): readonly Pick<Route, 'peer' | 'metric'>[] {
  const snapshot = ledger.snapshot()
  const now = clock.now()
  const owned = snapshot.getLive(BUCKETS.routes, range)
  const further = furtherProviders(snapshot, { bucket: BUCKETS.routes, name: range, now })
  const entries = [...(owned === undefined ? [] : [owned]), ...take(further, MAX_OTHER_ROUTERS)]
  return entries.flatMap((entry) => {
    const route = readRoute(range, entry)
    const isOther = typeof route === 'object' && route.peer !== ledger.self
    return isOther && snapshot.isOwnerLive(route.peer, now) ? [route] : []
  })
}

function take(further: ReturnType<typeof furtherProviders>, most: number): readonly Entry[] {
  const entries: Entry[] = []
  for (const { entry } of further) if (entries.push(entry) >= most) break
  return entries
}

/** This node's entries beside those of other routers. */
function ownFurther(ledger: VpnLedger): readonly { readonly key: string; readonly name: string }[] {
  const own: { key: string; name: string }[] = []
  for (const { key, entry } of ledger.snapshot().entries(BUCKETS.providers)) {
    if (entry.deleted || entry.owner !== ledger.self) continue
    const read = parseProviderKey(key)
    if (read?.bucket === BUCKETS.routes) own.push({ key, name: read.name })
  }
  return own
}

/** This node's entries, also those of an earlier run, which its own heartbeat would keep for ever. */
function ownRoutes(ledger: VpnLedger): readonly string[] {
  const keys: string[] = []
  for (const { key, entry } of ledger.snapshot().entries('routes')) {
    if (entry.deleted) continue
    // those of others need not be read, of which there may be a hundred thousand
    if (entry.owner === ledger.self || (entry.owner === '' && peerOf(key, entry) === ledger.self))
      keys.push(key)
  }
  return keys
}

function peerOf(key: string, entry: Entry): string | undefined {
  const route = readRoute(key, entry)
  return typeof route === 'object' ? route.peer : undefined
}
