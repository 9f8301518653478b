/**
 * Calls the ledger's reaper at multiples of its interval in wall-clock time, ten minutes by default. All nodes then collect
 * the same tombstones at about the same time, and their ledgers stay equal. The leader also ends expired entries. Any
 * other node now and then ends overdue ones.
 */
import type { Clock, Logger, Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { SCRUB_INTERVAL_MS, SCRUB_REST_MS } from '../limits.ts'

export interface ReaperComponents {
  readonly ledger: Pick<Ledger, 'reap'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Monotonic ms since when this node has been part of the network; undefined while it arrives. */
  readonly syncedAt: () => number | undefined
  /** The interval in ms; `SCRUB_INTERVAL_MS` by default. */
  readonly intervalMs?: number
}

/** Spread of one scrub over the nodes. */
const JITTER_MS = 5_000

/** The returned function stops. */
export function startReaper(components: ReaperComponents): () => void {
  const { ledger, clock, random, logger, syncedAt, intervalMs = SCRUB_INTERVAL_MS } = components
  let cancel = () => {}
  let cancelRest = () => {}
  const wait = () => {
    const untilNext = intervalMs - (clock.now() % intervalMs)
    cancel = clock.after(untilNext + random.float() * JITTER_MS, scrub)
  }
  const scrub = () => {
    wait()
    const since = syncedAt()
    // A node that has just come judges nobody: it may have missed their heartbeats.
    if (since === undefined || clock.monotonic() - since < intervalMs) return
    cancelRest()
    reap(random.float())
  }
  const reap = (draw?: number) => {
    const { collected, hasMore, ended } = ledger.reap(draw)
    if (collected + ended > 0) logger.debug('scrubbed', { collected, ended })
    if (hasMore) cancelRest = clock.after(SCRUB_REST_MS, reap)
  }
  wait()
  return () => {
    cancel()
    cancelRest()
  }
}
