/**
 * The accepted routes of an earlier run. A member can date a route back at will, so that by dates alone whoever came last
 * could have a part of another's network after each start.
 */
import type { LeaseStore } from '../addresses/lease-store.ts'
import { MAX_TABLE_ROUTES } from '../limits.ts'
import type { HeldRoute } from './table-input.ts'

/** Gives none where nothing, or no list of such routes, was kept. */
export function readRoutes(store: LeaseStore): readonly HeldRoute[] {
  try {
    const kept: unknown = JSON.parse(store.read() ?? '[]')
    return Array.isArray(kept) ? kept.slice(0, MAX_TABLE_ROUTES).filter(isRoute) : []
  } catch {
    return []
  }
}

export function writeRoutes(store: LeaseStore, routes: readonly HeldRoute[]): void {
  store.write(JSON.stringify(routes.map(({ peer, range }) => ({ peer, range }))))
}

function isRoute(kept: unknown): kept is HeldRoute {
  const { peer, range } = (kept ?? {}) as { readonly peer?: unknown; readonly range?: unknown }
  return typeof peer === 'string' && typeof range === 'string'
}
