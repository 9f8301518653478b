/** Who of the owners is alive, and for how long yet, asked once for each. */
import { BUCKETS } from '@mesh/core'
import { heartbeatTime } from '../state/liveness.ts'
import type { Snapshot } from '../snapshot.ts'

export interface Owners {
  isLive(owner: string): boolean
  /** Those asked for that are not alive. */
  readonly silent: ReadonlySet<string>
  /** Unix ms when the first of those alive will not be any more; undefined: never. */
  expiresAt(): number | undefined
}

export interface OwnersInit {
  readonly snapshot: Pick<Snapshot, 'entries' | 'isOwnerLive'>
  /** Unix time in ms. */
  readonly now: number
  readonly livenessMs: number
}

export function createOwners({ snapshot, now, livenessMs }: OwnersInit): Owners {
  const live = new Set<string>()
  const silent = new Set<string>()
  return {
    silent,
    isLive(owner) {
      if (live.has(owner)) return true
      if (silent.has(owner)) return false
      const isLive = snapshot.isOwnerLive(owner, now)
      ;(isLive ? live : silent).add(owner)
      return isLive
    },
    /** One walk is cheaper than a look-up for each owner. */
    expiresAt() {
      let first = Number.POSITIVE_INFINITY
      for (const { key, entry } of snapshot.entries(BUCKETS.healthcheck)) {
        if (!entry.deleted && live.has(key))
          first = Math.min(first, (heartbeatTime(entry) ?? Number.POSITIVE_INFINITY) + livenessMs)
      }
      // an owner alive without a heartbeat is so where there is no ownership
      return first > now && first < Number.POSITIVE_INFINITY ? first : undefined
    },
  }
}
