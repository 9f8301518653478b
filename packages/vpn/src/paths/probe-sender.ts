/**
 * Sends probes and the answers to probes, within bounds. A peer can name the addresses of strangers. So probes to addresses that never answered are bounded
 * by the peer that named them, by the address that it speaks from, by their own address and in all. Answers to probes are,
 * too, because their source may be forged.
 */
import type { Clock } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import type { Engine } from '@mesh/engine'
import {
  ANSWERS,
  ANSWERS_TO_UNPROVEN,
  PROBES,
  PROBES_TO_UNPROVEN,
  UNPROVEN_ANSWERS,
  UNPROVEN_PROBES,
} from './limits.ts'
import type { PathEffect } from './path-state.ts'
import { encodeProbe } from './probe-message.ts'

/** A probe, or the answer to one. */
type Outgoing = Exclude<PathEffect, { readonly type: 'use' }>

/** The peer that named an address, and the address group that it speaks from, where it has one. */
export interface ProbeSource {
  readonly peer: string
  readonly address?: string
}

export class ProbeSender {
  readonly #rates
  readonly #engine: Pick<Engine, 'sendDatagram'>

  constructor({ clock, engine }: { readonly clock: Clock; readonly engine: Pick<Engine, 'sendDatagram'> }) {
    this.#engine = engine
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

  /** Sends one. False for a probe that could not be sent: of what the bounds keep back, the answer will be missing. */
  send(
    effect: Outgoing,
    from: ProbeSource,
    seal: { readonly token: Uint8Array; readonly key: Uint8Array },
  ): boolean {
    const { type, to, nonce, length } = effect
    if (!this.#take(effect, from)) return true
    if (type === 'pong') {
      const pong = encodeProbe({ kind: 'pong', nonce, length, observed: to }, seal)
      this.#engine.sendDatagram(to, pong, effect.socket)
      return true
    }
    const { socket, epoch } = effect.by
    return this.#engine.sendDatagram(to, encodeProbe({ kind: 'ping', nonce, length, epoch }, seal), socket)
  }

  #take({ type, to, isProven }: Outgoing, from: ProbeSource): boolean {
    const rates = this.#rates[type]
    if (isProven) return rates.proven.take(from)
    return rates.unproven.take(from) && rates.to.take({ address: to.address })
  }
}
