/**
 * Remembers what was refused, so that it is not asked for, or sent, again and again. Bounded; the oldest is
 * forgotten first, and what time may change is forgotten after a while.
 */
import { BoundedMap } from '@mesh/core'
import {
  LIVENESS_MS,
  REFUSAL_KEPT_MS,
  REFUSAL_LEASE_SHARE,
  REFUSAL_RETRY_MS,
  REFUSALS_REMEMBERED,
} from '../limits.ts'

interface RefusalMemoryInit {
  readonly capacity?: number
  /** How long a lease of this network lasts, in ms. */
  readonly livenessMs?: number
}

export function createRefusalMemory({
  capacity = REFUSALS_REMEMBERED,
  livenessMs = LIVENESS_MS,
}: RefusalMemoryInit = {}) {
  const refusals = new BoundedMap<string, { readonly code: string; readonly until: number }>(capacity)
  return {
    has(id: string, nowMs: number): boolean {
      const refusal = refusals.get(id)
      if (refusal === undefined) return false
      if (refusal.until > nowMs) return true
      refusals.delete(id)
      return false
    },
    /** @param code a ledger's RejectionCode, or whatever word a remote used for it */
    add(id: string, code: string, nowMs: number) {
      const keptMs = refusalKeptMs(code, livenessMs)
      if (keptMs === 0) return
      refusals.set(id, { code, until: nowMs + keptMs })
    },
    /** Forgets what was refused for this reason, of ids that begin so: it does not hold any more. */
    forget(code: string, prefix: string = '') {
      for (const [id, refusal] of refusals) {
        if (refusal.code === code && id.startsWith(prefix)) refusals.delete(id)
      }
    },
    get size(): number {
      return refusals.size
    },
  }
}

export type RefusalMemory = ReturnType<typeof createRefusalMemory>

/** How long a refusal for this reason stands. */
function refusalKeptMs(code: string, livenessMs: number): number {
  switch (code) {
    // It is wanted as soon as the entry arrives that it ends, or needs.
    case 'TOMB_UNKNOWN':
    case 'NOT_YET':
      return 0
    case 'FUTURE':
    case 'GATED':
    // Whoever sent it may not have heard that it has ended.
    case 'REPLAYED':
      return REFUSAL_RETRY_MS
    case 'NOT_OWNER':
    case 'TOMB_NOT_OWNER':
    case 'QUOTA':
      return livenessMs * REFUSAL_LEASE_SHARE
    default:
      return REFUSAL_KEPT_MS
  }
}
