/**
 * Keeps the table equal to the ledger. Changes of machines, accepted routes or liveness build it again, once for several
 * changes and for a quarter of the time at most. A large table takes more than one turn of the event loop; the earlier one
 * stays in force.
 */
import { BUCKETS } from '@mesh/core'
import { type LoopBudget, loopBudget } from '@mesh/core/limits'
import type { LedgerEvent } from '@mesh/ledger'
import {
  EXPIRY_SLACK_MS,
  HOST_CHECK_MS,
  MAX_REBUILD_DELAY_MS,
  REBUILD_DELAY_MS,
  REBUILD_TIME_SHARE,
  MAX_TABLE_ROUTES,
  REMEMBER_ROUTES_MS,
} from '../limits.ts'
import { type AcceptedRoute, type LeaseStore, NO_STORE, type VpnComponents } from '../vpn.ts'
import type { VpnLedger } from '../ports.ts'
import { tableSteps, type VpnTable } from './build-table.ts'
import type { HeldRoute, TableInput } from './table-input.ts'

interface TableWatchInit {
  readonly read: () => TableInput
  /** True when `routes` and the networks and routes of the host matter. */
  readonly followsRoutes: boolean
  /** True when this node advertises routes, which others may do as well. */
  readonly advertisesRoutes: boolean
  readonly onTable: (table: VpnTable) => void
}

interface TableWatchComponents extends Pick<VpnComponents, 'clock' | 'log'> {
  readonly ledger: Pick<VpnLedger, 'subscribe'>
  /** Keeps the accepted routes over restarts. */
  readonly routeStore?: LeaseStore
}

export class TableWatch {
  /** Resolves when there is a table. */
  readonly ready: Promise<void>
  readonly #init: TableWatchInit
  readonly #components: TableWatchComponents
  readonly #unsubscribe: () => void
  readonly #budget: LoopBudget
  #onReady = () => {}
  #table: VpnTable | undefined
  #isBuilding = false
  /** True when the addresses, guests or wishes of this node have changed since building began. */
  #isStale = false
  /** True when the ledger has changed since then. */
  #isOutdated = false
  /** Whose heartbeats came while it was built. */
  readonly #beats = new Set<string>()
  #endBuild = () => {}
  #cancelExpiry = () => {}
  #cancelHostCheck = () => {}
  #cancelRebuild: (() => void) | undefined
  #costMs = 0
  /** The host's networks and routes of the table that was built last. */
  #host = ''
  #held: readonly AcceptedRoute[] = []
  /**
   * Those of an earlier run, whose owners may not have been heard yet. A member can date a route back at will, so that by dates
   * alone the last to come could have a part of another's network after each start.
   */
  readonly #remembered: readonly HeldRoute[]
  readonly #store: LeaseStore
  #cancelWrite: (() => void) | undefined

  constructor(init: TableWatchInit, components: TableWatchComponents) {
    this.#init = init
    this.#components = components
    this.#store = (init.followsRoutes ? components.routeStore : undefined) ?? NO_STORE
    this.#remembered = readRoutes(this.#store)
    this.#budget = loopBudget(components.clock)
    this.ready = new Promise((resolve) => (this.#onReady = resolve))
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
    if (init.followsRoutes) this.#checkHostLater()
    this.rebuild()
  }

  /** Builds the table now, or after the one that is being built: what it is built from has changed outside of the ledger. */
  rebuild(): void {
    this.#cancelRebuild?.()
    this.#cancelRebuild = undefined
    this.#isStale = this.#isBuilding
    if (!this.#isBuilding) this.#build()
  }

  stop(): void {
    this.#unsubscribe()
    this.#endBuild()
    this.#cancelExpiry()
    this.#cancelHostCheck()
    this.#cancelRebuild?.()
    this.#cancelRebuild = () => {}
    this.#cancelWrite?.()
  }

  #build(): void {
    const start = this.#components.clock.monotonic()
    const input = this.#init.read()
    this.#isBuilding = true
    this.#isOutdated = false
    this.#beats.clear()
    const steps = tableSteps({ ...input, held: [...this.#remembered, ...this.#held] })
    let isDone = false
    const endBuild = this.#budget.walk('control', steps, (table) => {
      isDone = true
      this.#built(table, input, start)
    })
    // who is told of a table that was built at once may have had the next one begun
    if (!isDone) this.#endBuild = endBuild
  }

  #built(table: VpnTable, input: TableInput, start: number): void {
    const { clock, log } = this.#components
    this.#isBuilding = false
    this.#table = table
    if (textOf(table.accepted) !== textOf(this.#held)) this.#writeSoon()
    this.#held = table.accepted
    this.#host = hostOf(input)
    this.#costMs = Math.max(0, clock.monotonic() - start)
    this.#cancelExpiry()
    if (table.expiresAt !== undefined) {
      const delayMs = Math.max(0, table.expiresAt - clock.now()) + EXPIRY_SLACK_MS
      this.#cancelExpiry = clock.after(delayMs, () => this.#rebuildSoon())
    }
    log.debug('table built', { peers: table.peers.size, routes: table.accepted.length, ms: this.#costMs })
    this.#init.onTable(table)
    this.#onReady()
    if (this.#isStale) this.rebuild()
    else if (this.#isOutdated || !this.#beats.isDisjointFrom(table.silent)) this.#rebuildSoon()
  }

  #hear(event: LedgerEvent): void {
    if (event.type === 'admission') return this.#rebuildSoon()
    if (event.type !== 'committed') return
    const { followsRoutes, advertisesRoutes } = this.#init
    const matters = event.changes.some(({ bucket, key, entry }) => {
      if (bucket === 'machines') return true
      if (bucket === BUCKETS.routes || (bucket === BUCKETS.providers && key.startsWith(BUCKETS.routes)))
        return followsRoutes || advertisesRoutes
      if (bucket !== BUCKETS.healthcheck) return false
      if (this.#isBuilding) this.#beats.add(key)
      // a heartbeat of somebody who is alive anyway changes nothing
      return entry.deleted || this.#table?.silent.has(key) === true
    })
    if (matters) this.#rebuildSoon()
  }

  #rebuildSoon(): void {
    if (this.#isBuilding) {
      this.#isOutdated = true
      return
    }
    const costsMs = Math.min(MAX_REBUILD_DELAY_MS, this.#costMs * (REBUILD_TIME_SHARE - 1))
    const delayMs = Math.max(REBUILD_DELAY_MS, costsMs)
    this.#cancelRebuild ??= this.#components.clock.after(delayMs, () => this.rebuild())
  }

  #writeSoon(): void {
    this.#cancelWrite ??= this.#components.clock.after(REMEMBER_ROUTES_MS, () => {
      this.#cancelWrite = undefined
      writeRoutes(this.#store, this.#held)
    })
  }

  #checkHostLater(): void {
    this.#cancelHostCheck = this.#components.clock.after(HOST_CHECK_MS, () => {
      if (hostOf(this.#init.read()) !== this.#host) this.#rebuildSoon()
      this.#checkHostLater()
    })
  }
}

function hostOf({ connected, routed }: TableInput): string {
  return `${connected.join()} ${routed.join()}`
}

function textOf(routes: readonly HeldRoute[]): string {
  return routes.map(({ peer, range }) => `${peer} ${range}`).join()
}

/** Gives none where nothing, or no list of such routes, was kept. */
function readRoutes(store: LeaseStore): readonly HeldRoute[] {
  try {
    const kept: unknown = JSON.parse(store.read() ?? '[]')
    return Array.isArray(kept) ? kept.slice(0, MAX_TABLE_ROUTES).filter(isRoute) : []
  } catch {
    return []
  }
}

function writeRoutes(store: LeaseStore, routes: readonly HeldRoute[]): void {
  store.write(JSON.stringify(routes.map(({ peer, range }) => ({ peer, range }))))
}

function isRoute(kept: unknown): kept is HeldRoute {
  const { peer, range } = (kept ?? {}) as { readonly peer?: unknown; readonly range?: unknown }
  return typeof peer === 'string' && typeof range === 'string'
}
