/**
 * Finds a provider that died without a word, while connections to it are in use and another provider could take over.
 *
 * 1. Nothing came from the provider since the last look: its connection is asked whether it is alive.
 * 2. A connection that stays silent comes into doubt, and `pathOf` knows it no more: new connections go elsewhere.
 * 3. The provider stays silent: connections to it end, so that programs connect again.
 *
 * A provider whose process ends needs none of this: its connections close.
 */
import type { Clock, PeerId } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { IN_USE_MS, PROVIDER_LOOK_MS, SILENT_PROVIDER_MS } from '../limits.ts'
import type { ServicesNetwork } from '../ports.ts'
import type { Traffic } from '../streams/splice.ts'

interface WatchedUse {
  readonly traffic: Traffic
  readonly end: (reason: Error) => void
  readonly hasOther: () => boolean
}

interface WatchedPeer {
  readonly uses: Set<WatchedUse>
  /** The bytes of all its connections, at the last look. */
  bytesIn: number
  bytesOut: number
  /** When something came last, and when something went either way, in monotonic ms. */
  heardAt: number
  usedAt: number
  /** The provider was asked, and has neither answered nor ended. */
  isAsked: boolean
}

interface LivenessComponents {
  readonly network: Pick<ServicesNetwork, 'pathOf' | 'check'>
  readonly clock: Clock
}

export class ProviderLiveness {
  readonly #components: LivenessComponents
  readonly #peers = new Map<PeerId, WatchedPeer>()
  #cancel: (() => void) | undefined
  #lookedAt = 0

  constructor(components: LivenessComponents) {
    this.#components = components
  }

  /** Watches one connection to the provider until the returned function is called. */
  watch(peer: PeerId, use: WatchedUse): () => void {
    const now = this.#components.clock.monotonic()
    const watched = this.#peers.get(peer) ?? {
      uses: new Set(),
      bytesIn: 0,
      bytesOut: 0,
      heardAt: now,
      usedAt: now,
      isAsked: false,
    }
    // a request waits for its answer: as if a byte had gone out
    watched.usedAt = now
    watched.uses.add(use)
    this.#peers.set(peer, watched)
    if (this.#cancel === undefined) this.#lookLater()
    return () => {
      watched.uses.delete(use)
      watched.bytesIn -= use.traffic.bytesIn
      watched.bytesOut -= use.traffic.bytesOut
      if (watched.uses.size === 0 && this.#peers.get(peer) === watched) this.#peers.delete(peer)
      if (this.#peers.size === 0) this.stop()
    }
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #lookLater(): void {
    const { clock } = this.#components
    this.#lookedAt = clock.monotonic()
    this.#cancel = clock.after(PROVIDER_LOOK_MS, () => {
      const now = clock.monotonic()
      const wasHeldUp = now - this.#lookedAt > 2 * PROVIDER_LOOK_MS
      for (const [peer, watched] of this.#peers) this.#look(peer, watched, { now, wasHeldUp })
      if (this.#peers.size > 0) this.#lookLater()
      else this.#cancel = undefined
    })
  }

  /** @param at `wasHeldUp`: this process stood still, and what came meanwhile was not read */
  #look(peer: PeerId, watched: WatchedPeer, at: { readonly now: number; readonly wasHeldUp: boolean }): void {
    const { now, wasHeldUp } = at
    const { bytesIn, bytesOut } = sumOf(watched.uses)
    const hasCome = bytesIn !== watched.bytesIn
    if (hasCome || bytesOut !== watched.bytesOut) watched.usedAt = now
    Object.assign(watched, { bytesIn, bytesOut })
    if (hasCome || wasHeldUp || now - watched.usedAt > IN_USE_MS) {
      watched.heardAt = now
      return
    }
    const replaceable = [...watched.uses].filter(({ hasOther }) => hasOther())
    if (replaceable.length === 0) {
      watched.heardAt = now
      return
    }
    void this.#ask(peer, watched)
    const isInDoubt = this.#components.network.pathOf(peer) === undefined
    if (!isInDoubt || now - watched.heardAt < SILENT_PROVIDER_MS) return
    const reason = servicesError('services.broken', 'the provider does not answer')
    for (const { end } of replaceable) end(reason)
  }

  async #ask(peer: PeerId, watched: WatchedPeer): Promise<void> {
    const { network, clock } = this.#components
    if (watched.isAsked) return
    watched.isAsked = true
    await network.check?.(peer)
    watched.isAsked = false
    // it answered: silence counts from here
    if (network.pathOf(peer) !== undefined) watched.heardAt = clock.monotonic()
  }
}

function sumOf(uses: ReadonlySet<WatchedUse>): Traffic {
  const sum = { bytesIn: 0, bytesOut: 0 }
  for (const { traffic } of uses) {
    sum.bytesIn += traffic.bytesIn
    sum.bytesOut += traffic.bytesOut
  }
  return sum
}
