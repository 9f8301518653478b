/** Searches for a path to the peers for whom packets wait: some at a time, each again after growing waits. */
import { type PeerId, toError } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import { tunnelError, within } from '../streams/tunnel-error.ts'
import { createWorkQueue } from './work-queue.ts'
import { MAX_SEARCHES, MAX_WAITING_SEARCHES, SEARCH_MS, SEARCH_RETRY } from './limits.ts'
import type { VpnComponents } from '../vpn.ts'

interface PathSearchComponents extends Pick<VpnComponents, 'clock' | 'random'> {
  /** Resolves when the peer has a tunnel. */
  readonly find: (peer: PeerId, signal: AbortSignal) => Promise<void>
  /** True while the peer has none. */
  readonly isNeeded: (peer: PeerId) => boolean
}

export type PathSearch = ReturnType<typeof createPathSearch>

interface Failure {
  readonly backoff: Backoff
  lastError: Error | undefined
  cancelRetry: (() => void) | undefined
}

export function createPathSearch({ find, isNeeded, clock, random }: PathSearchComponents) {
  const failures = new Map<PeerId, Failure>()
  const stopping = new AbortController()

  const queue = createWorkQueue({
    concurrency: MAX_SEARCHES,
    maxWaiting: MAX_WAITING_SEARCHES,
    async run(peer) {
      if (!isNeeded(peer)) return
      try {
        await within({ clock, ms: SEARCH_MS, signal: stopping.signal }, (signal) => find(peer, signal))
        forget(peer)
      } catch (error) {
        if (!stopping.signal.aborted && isNeeded(peer)) failed(peer, toError(error))
      }
    },
  })

  function failed(peer: PeerId, error: Error): void {
    const failure = failures.get(peer) ?? {
      backoff: createBackoff(SEARCH_RETRY, { clock, random }),
      lastError: undefined,
      cancelRetry: undefined,
    }
    failure.lastError = error
    failure.backoff.failed()
    failures.set(peer, failure)
  }

  function forget(peer: PeerId): void {
    failures.get(peer)?.cancelRetry?.()
    failures.delete(peer)
    queue.remove(peer)
  }

  return {
    /** The engine's event `pathNeeded`: packets wait for the peer. */
    pathNeeded(peer: PeerId): void {
      if (stopping.signal.aborted || queue.has(peer) || !isNeeded(peer)) return
      const failure = failures.get(peer)
      const waitMs = failure?.backoff.remainingMs() ?? 0
      if (failure === undefined || waitMs === 0) return void queue.enqueue(peer)
      failure.cancelRetry ??= clock.after(waitMs, () => {
        failure.cancelRetry = undefined
        if (isNeeded(peer)) queue.enqueue(peer)
      })
    },
    /** Ends the search for the peer, and what is known of those before. */
    forget,
    lastErrorOf: (peer: PeerId) => failures.get(peer)?.lastError,
    stop() {
      stopping.abort(tunnelError('vpn.stopped', 'the VPN stops'))
      queue.stop()
      for (const { cancelRetry } of failures.values()) cancelRetry?.()
      failures.clear()
    },
  }
}
