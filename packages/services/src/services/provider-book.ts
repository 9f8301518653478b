/**
 * Remembers the providers that this node uses: how many connections each has, which ones failed, and with which provider
 * each name stays. All connections of a node share it, those of local ports and those of programs.
 */
import { BoundedMap, type Clock, type PeerId, type Random } from '@mesh/core'
import { FAILED_PROVIDER_MS, MAX_REMEMBERED_PROVIDERS } from '../limits.ts'
import type { ServicesNetwork } from '../ports.ts'
import type { Traffic } from '../streams/splice.ts'
import { chooseProvider, type Provider, type ProviderState } from './choose-provider.ts'
import { ProviderLiveness } from './provider-liveness.ts'

export interface ProviderBookComponents {
  readonly network: Pick<ServicesNetwork, 'pathOf' | 'check'>
  readonly clock: Clock
  readonly random: Random
}

export interface ProviderUseInit {
  /** Ends the connection because its provider is silent. */
  readonly end: (reason: Error) => void
  /** True when another provider could take over: only then the provider is asked whether it is alive. */
  readonly hasOther: () => boolean
}

/** One connection to a provider, from its first try to its end. */
export interface ProviderUse {
  readonly provider: Provider
  /** The bytes of this connection. */
  readonly traffic: Traffic
  /** The connection is over. Idempotent. */
  close(): void
}

export class ProviderBook {
  /** True: a name stays with one provider as long as that works. */
  readonly isSticky: boolean
  readonly #components: ProviderBookComponents
  readonly #failedAt = new BoundedMap<string, number>(MAX_REMEMBERED_PROVIDERS)
  readonly #chosen = new BoundedMap<string, Provider>(MAX_REMEMBERED_PROVIDERS)
  readonly #connections = new Map<PeerId, number>()
  readonly #liveness: ProviderLiveness

  constructor({ isSticky }: { readonly isSticky: boolean }, components: ProviderBookComponents) {
    this.isSticky = isSticky
    this.#components = components
    this.#liveness = new ProviderLiveness(components)
  }

  /** The provider that the last connection to the name went to. */
  chosenFor(name: string): Provider | undefined {
    return this.#chosen.get(name)
  }

  stateOf(provider: Provider): ProviderState {
    const path = this.#components.network.pathOf(provider.peer)
    const connections = this.#connections.get(provider.peer) ?? 0
    return { provider, hasFailed: this.#hasFailed(provider), path, connections }
  }

  /** Chooses among these for a new connection to the name. */
  choose(name: string, candidates: readonly Provider[]): Provider | undefined {
    const states = candidates.map((each) => this.stateOf(each))
    const kept = this.isSticky ? this.#chosen.get(name) : undefined
    const state = kept && states.find(({ provider }) => isSame(provider, kept))
    if (state !== undefined && !state.hasFailed && state.path !== undefined) return state.provider
    return chooseProvider(states, this.#components.random)
  }

  /** A connection to the name reached the provider. */
  worked(name: string, provider: Provider): void {
    this.#failedAt.delete(idOf(provider))
    this.#chosen.set(name, provider)
  }

  /** The provider could not be reached, or refused: others go first for a while. */
  failed(provider: Provider): void {
    this.#failedAt.set(idOf(provider), this.#components.clock.monotonic())
  }

  /** Counts a connection, and watches it while it is in use. */
  use(provider: Provider, init: ProviderUseInit): ProviderUse {
    const { peer } = provider
    const traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
    this.#connections.set(peer, (this.#connections.get(peer) ?? 0) + 1)
    const end = (reason: Error) => {
      this.failed(provider)
      init.end(reason)
    }
    const unwatch = this.#liveness.watch(peer, { traffic, end, hasOther: init.hasOther })
    let isOpen = true
    const close = () => {
      if (!isOpen) return
      isOpen = false
      unwatch()
      const left = (this.#connections.get(peer) ?? 1) - 1
      if (left > 0) this.#connections.set(peer, left)
      else this.#connections.delete(peer)
    }
    return { provider, traffic, close }
  }

  stop(): void {
    this.#liveness.stop()
  }

  #hasFailed(provider: Provider): boolean {
    const at = this.#failedAt.get(idOf(provider))
    return at !== undefined && this.#components.clock.monotonic() - at < FAILED_PROVIDER_MS
  }
}

export function isSame(one: Provider, other: Provider): boolean {
  return one.peer === other.peer && one.service === other.service
}

function idOf({ peer, service }: Provider): string {
  return `${peer} ${service}`
}
