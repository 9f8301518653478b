/** The networks that this node routes for others: announced in `routes`, and ended there when it does not any more. */
import type { Cidr } from '@mesh/core'
import type { VpnLedger } from './ports.ts'
import { readRoute } from './table/read-entry.ts'
import type { VpnComponents } from './vpn.ts'

/** To be called when the node has arrived; the returned function stops, and leaves the entries. */
export function announceRoutes(
  routes: readonly Cidr[],
  { ledger, announce }: Pick<VpnComponents, 'ledger' | 'announce'>,
): () => void {
  for (const key of oldRoutes(ledger, new Set<string>(routes))) ledger.delete('routes', key)
  const value = JSON.stringify({ PeerID: ledger.self, Metric: 0 })
  const ends = routes.map((range) => announce('routes', range, () => value))
  return () => {
    for (const end of ends) end()
  }
}

/** Of an earlier run: this node's own heartbeat would keep them for ever. */
function oldRoutes(ledger: VpnLedger, keep: ReadonlySet<string>): readonly string[] {
  return [...ledger.snapshot().entries('routes')].flatMap(({ key, entry }) => {
    if (entry.deleted || keep.has(key)) return []
    const route = readRoute(key, entry)
    const isOwn =
      entry.owner === ledger.self ||
      (entry.owner === '' && typeof route === 'object' && route.peer === ledger.self)
    return isOwn ? [key] : []
  })
}
