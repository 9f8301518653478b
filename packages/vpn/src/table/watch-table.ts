/**
 * Keeps the table as the ledger says. It is built anew when machines, accepted routes or who is alive changed, once for
 * several changes, and for a quarter of the time at most.
 */
import { BUCKETS, type Clock, type Logger } from '@mesh/core'
import type { LedgerEvent } from '@mesh/ledger'
import {
  EXPIRY_SLACK_MS,
  HOST_CHECK_MS,
  MAX_REBUILD_DELAY_MS,
  REBUILD_DELAY_MS,
  REBUILD_TIME_SHARE,
  REMEMBER_ROUTES_MS,
} from '../limits.ts'
import { type LeaseStore, NO_STORE } from '../addresses/lease-store.ts'
import type { VpnLedger } from '../ports.ts'
import type { AcceptedRoute } from '../vpn.ts'
import { buildTable, type VpnTable } from './build-table.ts'
import { readRoutes, writeRoutes } from './remembered-routes.ts'
import type { HeldRoute, TableInput } from './table-input.ts'

export interface TableWatch {
  /** The table that was built last. */
  readonly table: VpnTable
  /** Builds the table now: what it is built from has changed outside of the ledger. */
  rebuild(): void
  stop(): void
}

interface TableWatchInit {
  readonly read: () => TableInput
  /** True when `routes` and the networks and routes of the host matter. */
  readonly followsRoutes: boolean
  readonly onTable: (table: VpnTable) => void
}

interface TableWatchComponents {
  readonly ledger: Pick<VpnLedger, 'subscribe'>
  readonly clock: Clock
  readonly log: Logger
  /** Keeps the accepted routes over restarts. */
  readonly routeStore?: LeaseStore
}

/** Starts to watch, and has called `onTable` once when it returns. */
export function watchTable(init: TableWatchInit, components: TableWatchComponents): TableWatch {
  return new Watch(init, components)
}

class Watch implements TableWatch {
  table: VpnTable
  readonly #init: TableWatchInit
  readonly #components: TableWatchComponents
  readonly #unsubscribe: () => void
  #cancelExpiry = () => {}
  #cancelHostCheck = () => {}
  #cancelRebuild: (() => void) | undefined
  #costMs = 0
  /** The host's networks and routes of the table that was built last. */
  #host = ''
  #held: readonly AcceptedRoute[] = []
  /** Those of an earlier run, whose owners may not have been heard yet. */
  readonly #remembered: readonly HeldRoute[]
  readonly #store: LeaseStore
  #cancelWrite: (() => void) | undefined

  constructor(init: TableWatchInit, components: TableWatchComponents) {
    this.#init = init
    this.#components = components
    this.#store = (init.followsRoutes ? components.routeStore : undefined) ?? NO_STORE
    this.#remembered = readRoutes(this.#store)
    this.table = this.#build()
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
    if (init.followsRoutes) this.#checkHostLater()
    init.onTable(this.table)
  }

  rebuild(): void {
    this.#cancelRebuild?.()
    this.#cancelRebuild = undefined
    this.table = this.#build()
    this.#init.onTable(this.table)
  }

  stop(): void {
    this.#unsubscribe()
    this.#cancelExpiry()
    this.#cancelHostCheck()
    this.#cancelRebuild?.()
    this.#cancelRebuild = () => {}
    this.#cancelWrite?.()
  }

  #build(): VpnTable {
    const { clock, log } = this.#components
    const start = clock.monotonic()
    const input = this.#init.read()
    const table = buildTable({ ...input, held: [...this.#held, ...this.#remembered] })
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
    return table
  }

  #hear(event: LedgerEvent): void {
    if (event.type === 'admission') return this.#rebuildSoon()
    if (event.type !== 'committed') return
    const { followsRoutes } = this.#init
    const matters = event.changes.some(({ bucket, key, entry }) => {
      if (bucket === 'machines') return true
      if (bucket === 'routes') return followsRoutes
      // a heartbeat of somebody who is alive anyway changes nothing
      return bucket === BUCKETS.healthcheck && (entry.deleted || this.table.silent.has(key))
    })
    if (matters) this.#rebuildSoon()
  }

  #rebuildSoon(): void {
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
