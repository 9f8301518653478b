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

export interface RefusalMemory {
  has(id: string, nowMs: number): boolean
  /** @param code a ledger's RejectionCode, or whatever word a remote used for it */
  add(id: string, code: string, nowMs: number): void
  readonly size: number
}

interface RefusalMemoryInit {
  readonly capacity?: number
  /** How long a lease of this network lasts, in ms. */
  readonly livenessMs?: number
}

export function createRefusalMemory({
  capacity = REFUSALS_REMEMBERED,
  livenessMs = LIVENESS_MS,
}: RefusalMemoryInit = {}): RefusalMemory {
  const until = new BoundedMap<string, number>(capacity)
  return {
    has(id, nowMs) {
      const end = until.get(id)
      if (end === undefined) return false
      if (end > nowMs) return true
      until.delete(id)
      return false
    },
    add(id, code, nowMs) {
      const keptMs = refusalKeptMs(code, livenessMs)
      if (keptMs === 0) return
      until.set(id, nowMs + keptMs)
    },
    get size() {
      return until.size
    },
  }
}

/** How long a refusal for this reason stands. */
function refusalKeptMs(code: string, livenessMs: number): number {
  switch (code) {
    // It is wanted as soon as the entry arrives that it ends; until then lists leave it out by themselves.
    case 'TOMB_UNKNOWN':
      return 0
    case 'FUTURE':
      return REFUSAL_RETRY_MS
    case 'NOT_OWNER':
    case 'TOMB_NOT_OWNER':
    case 'QUOTA':
    case 'GATED':
      return livenessMs * REFUSAL_LEASE_SHARE
    default:
      return REFUSAL_KEPT_MS
  }
}
