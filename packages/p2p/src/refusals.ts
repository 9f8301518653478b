import { type Clock, KeyedCounts } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import { REFUSAL_EVENTS_PER_SECOND } from './limits.ts'
import type { RefusalCode } from './p2p-error.ts'
import type { P2pEvent } from './p2p-node.ts'

/** Where the parts of this package report what they refused. */
export interface Refusals {
  /** Counts one refusal and tells it as an event. */
  refuse(code: RefusalCode, from?: { readonly peer?: string; readonly protocol?: string }): void
  /** Counts since the start, by code. */
  counts(): Readonly<Record<string, number>>
}

/** Creates the counter of refusals. Events of one code come at most ten times a second. */
export function createRefusals(components: {
  readonly clock: Clock
  readonly emit: (event: P2pEvent) => void
}): Refusals {
  const { clock, emit } = components
  const counts = new KeyedCounts<RefusalCode>()
  const rate = { perSecond: REFUSAL_EVENTS_PER_SECOND, burst: REFUSAL_EVENTS_PER_SECOND }
  const events = createRate({ perPeer: rate }, clock)
  return {
    refuse(code, from = {}) {
      counts.add(code)
      if (events.take({ peer: code }))
        emit({ type: 'refused', code, peer: from.peer, protocol: from.protocol })
    },
    counts: () => Object.fromEntries(counts.entries()),
  }
}
