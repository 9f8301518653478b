/**
 * Who offers a name now, and being connected to it. Follows the ledger: another owner is another provider. While there
 * is one, a connection to it is kept, so that local connections find it made.
 */
import { BUCKETS, type Clock, createBackoff, type PeerId, type Random, toError } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { findProvider } from '../find-provider.ts'
import { LIVENESS_LOOK_MS, RECONNECT_LEAST_MS, RECONNECT_MOST_MS } from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'

export interface ProviderWatch {
  /** Undefined: nobody who is alive offers the name. */
  readonly provider: PeerId | undefined
  readonly lastError: string | undefined
  /** Resolves with a connected provider. @throws the signal's reason */
  connected(signal: AbortSignal): Promise<PeerId>
  stop(): void
}

export interface ProviderComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly clock: Clock
  readonly random: Random
  /** `provider`, or how it is connected, is another now. */
  readonly onChange: () => void
}

export function watchProvider(name: string, components: ProviderComponents): ProviderWatch {
  const { ledger, network, clock, onChange } = components
  const ended = new AbortController()
  const backoff = createBackoff({ leastMs: RECONNECT_LEAST_MS, mostMs: RECONNECT_MOST_MS }, components)
  const waiting = new Set<(peer: PeerId) => void>()
  let provider: PeerId | undefined
  let wasConnected = false
  let lastError: string | undefined
  let isDialling = false
  let cancel = () => {}

  function look(): void {
    if (ended.signal.aborted) return
    cancel()
    const found = findProvider(BUCKETS.services, name, components)
    const isConnected = found !== undefined && network.pathOf(found) !== undefined
    const isChanged = found !== provider || isConnected !== wasConnected
    if (found !== provider) backoff.succeeded()
    provider = found
    wasConnected = isConnected
    if (isConnected) wake(found)
    else if (found !== undefined) void connect(found)
    cancel = clock.after(Math.min(LIVENESS_LOOK_MS, backoff.remainingMs() || LIVENESS_LOOK_MS), look)
    if (isChanged) onChange()
  }

  function wake(peer: PeerId): void {
    backoff.succeeded()
    lastError = undefined
    for (const resolve of waiting) resolve(peer)
    waiting.clear()
  }

  async function connect(peer: PeerId): Promise<void> {
    if (isDialling || backoff.remainingMs() > 0) return
    if (peer === network.self) {
      lastError = 'this node offers the service itself'
      return
    }
    isDialling = true
    try {
      await network.connect(peer, ended.signal)
    } catch (error) {
      lastError = toError(error).message
      backoff.failed()
    }
    isDialling = false
    look()
  }

  const unsubscribe = ledger.subscribe((event) => {
    if (event.type !== 'committed') return
    const isOurs = event.changes.some(
      ({ bucket, key }) =>
        (bucket === BUCKETS.services && key === name) ||
        (bucket === BUCKETS.healthcheck && key === ownerOf(name, ledger)),
    )
    if (isOurs) look()
  })
  const stopPaths = network.onPath((peer) => {
    if (peer === provider) look()
  })
  // not before the caller has what is returned here
  queueMicrotask(look)
  return {
    get provider() {
      return provider
    },
    get lastError() {
      return lastError
    },
    connected: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const onAbort = () => {
          waiting.delete(found)
          reject(signal.reason)
        }
        const found = (peer: PeerId) => {
          signal.removeEventListener('abort', onAbort)
          resolve(peer)
        }
        waiting.add(found)
        signal.addEventListener('abort', onAbort, { once: true })
        // somebody waits: sooner than the growing waits would have it
        backoff.hasten(RECONNECT_LEAST_MS)
        look()
      }),
    stop() {
      ended.abort(servicesError('services.stopped', 'stopped'))
      cancel()
      unsubscribe()
      stopPaths()
    },
  }
}

function ownerOf(name: string, ledger: ServicesLedger): string | undefined {
  return ledger.snapshot().getLive(BUCKETS.services, name)?.owner
}
