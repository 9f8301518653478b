/**
 * How many probes go out. A peer can name the addresses of strangers. So probes to addresses that never answered are bounded
 * by the peer that named them, by the address that it speaks from, by their own address and in all. Answers to probes are,
 * too, because their source may be forged.
 */
import type { Clock } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import {
  ANSWERS,
  ANSWERS_TO_UNPROVEN,
  PROBES,
  PROBES_TO_UNPROVEN,
  UNPROVEN_ANSWERS,
  UNPROVEN_PROBES,
} from './limits.ts'
import type { PathEffect } from './path-state.ts'

/** A probe, or the answer to one. */
type Outgoing = Exclude<PathEffect, { readonly type: 'use' }>

/** The peer that named an address, and the address group that it speaks from, where it has one. */
export interface ProbeSource {
  readonly peer: string
  readonly address?: string
}

export class ProbeBudget {
  readonly #rates

  constructor(clock: Clock) {
    this.#rates = {
      ping: {
        proven: createRate(PROBES, clock),
        unproven: createRate(UNPROVEN_PROBES, clock),
        to: createRate(PROBES_TO_UNPROVEN, clock),
      },
      pong: {
        proven: createRate(ANSWERS, clock),
        unproven: createRate(UNPROVEN_ANSWERS, clock),
        to: createRate(ANSWERS_TO_UNPROVEN, clock),
      },
    }
  }

  /**
   * Takes one; false when none is left.
   */
  take({ type, to, isProven }: Outgoing, from: ProbeSource): boolean {
    const rates = this.#rates[type === 'pong' ? 'pong' : 'ping']
    if (isProven) return rates.proven.take(from)
    return rates.unproven.take(from) && rates.to.take({ address: to.address })
  }
}
