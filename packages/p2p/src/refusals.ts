import type { Clock } from '@mesh/core'
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

/**
 * Every refusal is counted; events of one code are told at most ten times a second, so that who sends rubbish
 * cannot make us busy with telling of it.
 */
export function createRefusals(components: {
  readonly clock: Clock
  readonly emit: (event: P2pEvent) => void
}): Refusals {
  const { clock, emit } = components
  const counts = new Map<string, number>()
  const told = new Map<string, { second: number; events: number }>()

  const mayTell = (code: string): boolean => {
    const second = Math.floor(clock.now() / 1000)
    const last = told.get(code)
    if (last === undefined || last.second !== second) {
      told.set(code, { second, events: 1 })
      return true
    }
    last.events++
    return last.events <= REFUSAL_EVENTS_PER_SECOND
  }

  return {
    refuse(code, from = {}) {
      counts.set(code, (counts.get(code) ?? 0) + 1)
      if (mayTell(code)) emit({ type: 'refused', code, peer: from.peer, protocol: from.protocol })
    },
    counts: () => Object.fromEntries(counts),
  }
}
