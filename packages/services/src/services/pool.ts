/**
 * Pools of services, as programs such as LocalAI make them. Each service has a name of its own. Its program renews an
 * entry under that name in the pool's bucket. A connection named `BUCKET/*` is to any one of them.
 */
import { BUCKETS, type Clock, type PeerId } from '@mesh/core'
import { findProvider } from '../find-provider.ts'
import { MAX_POOL_BYTES, MAX_POOL_SERVICES, POOL_SEEN_MS } from '../limits.ts'
import type { ServicesLedger } from '../ports.ts'

/** A service, and the member that offers it. */
export interface PoolService {
  readonly service: string
  readonly provider: PeerId
}

const SUFFIX = '/*'

/** Gives the bucket of a pool's name; undefined for the name of one service. */
export function poolBucketOf(name: string): string | undefined {
  return name.length > SUFFIX.length && name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined
}

/**
 * Lists the services of a bucket that can be used: other members that are alive offer them. An entry with `LastSeen` must
 * have one of the last 40 s, as LocalAI judges it.
 */
export function findPoolServices(
  bucket: string,
  { ledger, clock }: { readonly ledger: ServicesLedger; readonly clock: Clock },
): readonly PoolService[] {
  const found: PoolService[] = []
  let looked = 0
  for (const { key, entry } of ledger.snapshot().entries(bucket)) {
    if (++looked > MAX_POOL_SERVICES) break
    if (entry.deleted || !wasSeenLately(entry.value, clock.now())) continue
    const provider = findProvider(BUCKETS.services, key, { ledger, clock })
    if (provider !== undefined && provider !== ledger.self) found.push({ service: key, provider })
  }
  return found
}

/** True also for a value that says no time: its owner's heartbeat has to do. */
function wasSeenLately(valueText: string, nowMs: number): boolean {
  if (valueText.length > MAX_POOL_BYTES) return false
  try {
    const value: unknown = JSON.parse(valueText)
    if (typeof value !== 'object' || value === null || !('LastSeen' in value)) return true
    const { LastSeen: seen } = value
    return typeof seen === 'string' && nowMs - Date.parse(seen) < POOL_SEEN_MS
  } catch {
    return false
  }
}
