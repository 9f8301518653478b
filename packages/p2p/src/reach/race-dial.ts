/**
 * Dials one peer at several addresses, one after the other with a short head start each. So an address that swallows packets costs a
 * quarter of a second. An address where somebody answered gets longer, because a busy machine takes time for the
 * handshake. Relayed addresses come last.
 */
import type { Connection } from '@libp2p/interface'
import { afterTurns, type Clock } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ANSWERED_STAGGER_MS, DIAL_TIMEOUT_MS } from './limits.ts'
import { headStartMs, inDialOrder } from './dial-order.ts'
import { UnneededDialError } from './host-dials.ts'

/** Somebody answered, and the handshake was not done in its time. */
export class SlowHandshakeError extends Error {
  override readonly name = 'SlowHandshakeError'
}

export interface RaceDialInit {
  /** `onAnswer` is to be called when somebody answered at the address, and the handshake begins. */
  readonly dialOne: (address: Multiaddr, signal: AbortSignal, onAnswer: () => void) => Promise<Connection>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Resolves with the first connection; dials still under way are aborted.
 * @throws AggregateError of what each address answered; the signal's reason; an error when time is over, which is a
 *   `SlowHandshakeError` where somebody answered
 */
export function raceDial(addresses: readonly Multiaddr[], init: RaceDialInit): Promise<Connection> {
  const { dialOne, clock, signal } = init
  const ordered = inDialOrder(addresses)
  // one for each: a connection stays bound to the signal of its own dial
  const dials = ordered.map(() => new AbortController())
  return new Promise<Connection>((resolve, reject) => {
    const errors: unknown[] = []
    let started = 0
    let cancelNext: (() => void) | undefined
    let isAnswered = false
    const cancelTimeout = afterTurns(clock, DIAL_TIMEOUT_MS, () => end(() => reject(lateError(isAnswered))))
    const onAbort = () => end(() => reject(signal.reason))

    function end(settle: () => void, winner?: number): void {
      cancelTimeout()
      cancelNext?.()
      signal.removeEventListener('abort', onAbort)
      started = ordered.length
      settle()
      const reason =
        winner === undefined
          ? (signal.reason ?? lateError(isAnswered))
          : new UnneededDialError('the race is won')
      for (const [at, dial] of dials.entries()) if (at !== winner) dial.abort(reason)
    }
    function startNext(): void {
      cancelNext?.()
      const at = started++
      const [address, dial] = [ordered[at], dials[at]]
      if (address === undefined || dial === undefined) return
      dialOne(address, dial.signal, () => onAnswer(at)).then(
        (connection) => end(() => resolve(connection), at),
        (error: unknown) => {
          errors.push(error)
          if (started < ordered.length) startNext()
          else if (errors.length === ordered.length) end(() => reject(oneOf(errors)))
        },
      )
      const next = ordered[started]
      if (next === undefined) return
      cancelNext = clock.after(headStartMs(address, next), startNext)
    }
    function onAnswer(at: number): void {
      isAnswered = true
      // the head start of those before it is over
      if (at !== started - 1 || started >= ordered.length) return
      cancelNext?.()
      cancelNext = clock.after(ANSWERED_STAGGER_MS, startNext)
    }

    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    if (ordered.length === 0) return end(() => reject(new Error('no address that this node can dial')))
    startNext()
  })
}

function lateError(isAnswered: boolean): Error {
  const seconds = DIAL_TIMEOUT_MS / 1_000
  if (isAnswered) return new SlowHandshakeError(`the handshake was not done within ${seconds} s`)
  return new Error(`no answer within ${seconds} s`)
}

function oneOf(errors: readonly unknown[]): unknown {
  return errors.length === 1 ? errors[0] : new AggregateError(errors, 'no address answered')
}
