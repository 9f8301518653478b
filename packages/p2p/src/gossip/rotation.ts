/** When which topic is in use around a rotation (docs/WIRE.md 3.3). Pure: windows by their number, time as unix ms. */
import { REPUBLISH_BEFORE_MS, REPUBLISH_DELAY_MS, TOPIC_LEAD_MS, TOPIC_LINGER_MS } from './limits.ts'

export interface RotationPlan {
  /** The window whose key seals. */
  readonly current: number
  /** The windows whose topics must be subscribed to: the next one early, the previous one for a while. */
  readonly subscribed: readonly number[]
  /** The windows to whose topics every publication goes. */
  readonly published: readonly number[]
  /** The time of the next change to any of this, in unix ms. */
  readonly changesAtMs: number
}

/** How far before and after a boundary two topics are in use. */
interface Overlap {
  readonly leadMs: number
  readonly lingerMs: number
  /** Publications from `beforeMs` before a boundary to `afterMs` after it are repeated `afterMs` after it. */
  readonly republish: { readonly beforeMs: number; readonly afterMs: number }
}

/** Gives the overlap for windows of this length; short windows have less, so that never more than two topics overlap. */
export function overlapOf(intervalMs: number): Overlap {
  return {
    leadMs: Math.min(TOPIC_LEAD_MS, intervalMs * 0.3),
    lingerMs: Math.min(TOPIC_LINGER_MS, intervalMs * 0.4),
    republish: {
      beforeMs: Math.min(REPUBLISH_BEFORE_MS, intervalMs * 0.3),
      afterMs: Math.min(REPUBLISH_DELAY_MS, intervalMs * 0.3),
    },
  }
}

/** Plans which topics are in use at a time. */
export function planRotation(nowMs: number, intervalMs: number): RotationPlan {
  const { leadMs, lingerMs } = overlapOf(intervalMs)
  const current = Math.floor(nowMs / intervalMs)
  const startMs = current * intervalMs
  const endMs = startMs + intervalMs
  const lingers = nowMs < startMs + lingerMs
  const leads = nowMs >= endMs - leadMs
  const published = lingers ? [current, current - 1] : [current]
  return {
    current,
    published,
    subscribed: leads ? [...published, current + 1] : published,
    changesAtMs: lingers ? startMs + lingerMs : leads ? endMs : endMs - leadMs,
  }
}
