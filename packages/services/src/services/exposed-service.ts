/**
 * One service that this node offers.
 *
 * 1. Watches the target.
 * 2. Announces the name in the ledger while the target answers, and withdraws it otherwise. While another member that is
 *    alive owns the name, this node tells of itself beside it, in `providers`; it takes the name when that member is gone.
 * 3. Joins connections of members with the target.
 */
import {
  BUCKETS,
  type Clock,
  type Logger,
  type PeerId,
  providerKey,
  type Random,
  serviceRecord,
} from '@mesh/core'
import { announceProvided } from '@mesh/ledger'
import type { Announcer, ServicesLedger } from '../ports.ts'
import type { Traffic } from '../streams/splice.ts'
import type { ExposedState, ExposedStatus } from './status.ts'
import { formatTarget, kindOfTarget, type ServiceTarget } from './target.ts'
import { type TargetHealth, watchTarget } from './target-health.ts'

export interface ExposedComponents {
  readonly ledger: ServicesLedger
  readonly announce: Announcer
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The status says something else now. */
  readonly onChange: () => void
}

export class ExposedService {
  readonly name: string
  readonly target: ServiceTarget
  readonly health: TargetHealth
  readonly traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  /** Ends a connection; by what was opened for it. */
  readonly open = new Set<(reason: Error) => void>()
  connections = 0
  lastError: string | undefined
  readonly #components: ExposedComponents
  #endAnnouncing: (() => Promise<void>) | undefined
  /** The end of what was announced last. */
  #withdrawn: Promise<void> | undefined

  constructor(name: string, target: ServiceTarget, components: ExposedComponents) {
    this.name = name
    this.target = target
    this.#components = components
    this.health = watchTarget(target, { ...components, onChange: () => this.#healthChanged() })
  }

  get kind() {
    return kindOfTarget(this.target)
  }

  status(): ExposedStatus {
    const { owner, isOurs } = this.#owner()
    return {
      name: this.name,
      target: formatTarget(this.target),
      state: this.#state(isOurs, owner),
      since: this.health.since,
      owner: isOurs ? undefined : owner,
      openConnections: this.open.size,
      connections: this.connections,
      ...this.traffic,
      lastError: this.health.lastError ?? this.lastError,
    }
  }

  /** Ends what is open, and the entry. Resolves when the entry's end is written. */
  async stop(): Promise<void> {
    this.health.stop()
    for (const end of this.open) end(new Error('the service was withdrawn'))
    await this.#withdraw()
  }

  #state(isOurs: boolean, owner: string | undefined): ExposedState {
    if (this.health.isUp === undefined) return 'checking'
    if (!this.health.isUp) return 'target down'
    if (owner === undefined || isOurs) return isOurs ? 'announced' : 'announcing'
    const { ledger } = this.#components
    const key = providerKey({ bucket: BUCKETS.services, name: this.name, peer: ledger.self as PeerId })
    const entry = ledger.snapshot().getLive(BUCKETS.providers, key)
    return entry === undefined ? 'announcing' : 'announced'
  }

  /** Whose the name is now, if anybody's who is alive. */
  #owner(): { readonly owner: string | undefined; readonly isOurs: boolean } {
    const { ledger, clock } = this.#components
    const snapshot = ledger.snapshot()
    const entry = snapshot.getLive(BUCKETS.services, this.name)
    if (entry === undefined) return { owner: undefined, isOurs: false }
    const owner = entry.owner === '' ? peerIdOf(entry.value) : entry.owner
    if (owner === ledger.self) return { owner, isOurs: true }
    const isLive = owner !== undefined && snapshot.isOwnerLive(owner, clock.now())
    return { owner: isLive ? owner : undefined, isOurs: false }
  }

  #healthChanged(): void {
    const { log } = this.#components
    const target = formatTarget(this.target)
    if (this.health.isUp === true) {
      log.info('service offered', { name: this.name, target })
      this.#announce()
    } else {
      log.warn('service not offered: its target does not answer', {
        name: this.name,
        target,
        reason: this.health.lastError,
      })
      void this.#withdraw()
    }
    this.#components.onChange()
  }

  #announce(): void {
    const { ledger } = this.#components
    const valueText = () => JSON.stringify({ PeerID: ledger.self, Name: this.name })
    this.#withdrawn = undefined
    this.#endAnnouncing ??= announceProvided(
      { bucket: BUCKETS.services, name: this.name, valueText },
      this.#components,
    )
  }

  #withdraw(): Promise<void> {
    this.#withdrawn ??= this.#endAnnouncing?.() ?? Promise.resolve()
    this.#endAnnouncing = undefined
    return this.#withdrawn
  }
}

function peerIdOf(value: string): string | undefined {
  try {
    return serviceRecord.safeParse(JSON.parse(value)).data?.PeerID
  } catch {
    return undefined
  }
}
