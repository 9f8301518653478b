/** The networks that this node routes for others: they are announced in `routes`, and ended there at the end. */
import { type Cidr, delay, type PeerId } from '@mesh/core'
import type { Entry } from '@mesh/ledger'
import { WITHDRAW_MS } from './limits.ts'
import type { VpnLedger } from './ports.ts'
import { readRoute } from './addresses/read-entry.ts'
import type { VpnTable } from './table/build-table.ts'
import { DEFAULT_ROUTES } from './addresses/prefix.ts'
import type { OthersRoute } from './table/table-problems.ts'
import type { VpnComponents, VpnInit } from './vpn.ts'

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
  routes: readonly Cidr[],
  { ledger, announce, clock }: Pick<VpnComponents, 'ledger' | 'announce' | 'clock'>,
): () => Promise<void> {
  for (const key of ownRoutes(ledger))
    if (!routes.some((range) => range === key)) ledger.delete('routes', key)
  const value = JSON.stringify({ PeerID: ledger.self, Metric: 0 })
  const ends = routes.map((range) => announce('routes', range, () => value))
  return async () => {
    for (const end of ends) end()
    // others would send packets to nobody until this node's lease ends
    const writes = ownRoutes(ledger).map((key) => ledger.delete('routes', key).settled)
    const done = new AbortController()
    const written = Promise.all(writes).finally(() => done.abort())
    await Promise.race([written, delay(clock, WITHDRAW_MS, done.signal).catch(() => {})])
  }
}

/** Gives the networks that this node is to advertise, and other live members do already. */
export function heldByOthers(
  routes: readonly Cidr[],
  { ledger, clock }: Pick<VpnComponents, 'ledger' | 'clock'>,
): readonly Pick<OthersRoute, 'range' | 'peer'>[] {
  const snapshot = ledger.snapshot()
  return routes.flatMap((range) => {
    const entry = snapshot.getLive('routes', range)
    const holder = entry && (entry.owner === '' ? peerOf(range, entry) : entry.owner)
    if (holder === undefined || holder === ledger.self || !snapshot.isOwnerLive(holder, clock.now()))
      return []
    return [{ range, peer: holder as PeerId }]
  })
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
