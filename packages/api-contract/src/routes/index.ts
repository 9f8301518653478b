/** Every endpoint of the API, once, in the order of the OpenAPI document. */
import type { RouteDefinition, RouteInput } from '../route.ts'
import { accessRoutes } from './access.ts'
import { dnsRoutes } from './dns.ts'
import { leaseRoutes } from './leases.ts'
import { ledgerRoutes } from './ledger.ts'
import { networkRoutes } from './network.ts'
import { nodeRoutes } from './node.ts'
import { offerRoutes } from './offers.ts'
import { rulesRoutes } from './rules.ts'
import { trafficRoutes } from './traffic.ts'
import { vpnRoutes } from './vpn.ts'

export const routes = {
  ...networkRoutes,
  ...vpnRoutes,
  ...dnsRoutes,
  ...ledgerRoutes,
  ...leaseRoutes,
  ...offerRoutes,
  ...accessRoutes,
  ...rulesRoutes,
  ...trafficRoutes,
  ...nodeRoutes,
} as const satisfies Readonly<Record<string, RouteDefinition>>

export type Routes = typeof routes
export type RouteId = keyof Routes

/** Reads that may be asked for page by page. */
export type PagedRouteId = {
  [Id in RouteId]: 'limit' extends keyof RouteInput<Routes[Id]> ? Id : never
}[RouteId]
