/**
 * What an attack did at its victim, and why what else it tried came to nothing: an attack that never reached anybody was
 * held off by nobody.
 */
import { errorChain } from './error-chain.ts'

/**
 * `refused`: the victim ended all that the attack tried, which is an outcome too. `kept out`: what it tried ended at a deadline or
 * in a handshake, at the victim's bounds or for lack of a processor. `never ran`: it tried nothing. `failed`: by a fault of its
 * own. The last three prove nothing.
 */
export type Carried = 'carried out' | 'refused' | 'kept out' | 'never ran' | 'failed'

/** Errors by which the other side of a connection or stream shows that it ended it, by name and by code. */
const ENDED_BY_VICTIM: ReadonlySet<string> = new Set([
  'ConnectionClosedError',
  'ConnectionClosingError',
  'ConnectionFailedError',
  'ECONNRESET',
  'EPIPE',
  'MuxerClosedError',
  'RefusedError',
  'StreamClosedError',
  'StreamResetError',
  'UnexpectedEOFError',
])

/**
 * Errors by which a deadline shows, as libp2p, the system and `untilTrue` name them, and those of a handshake that did not end:
 * libp2p says no more of why; and what the library of WebRTC says, which fails where connections come and go.
 */
const KEPT_OUT: ReadonlySet<string> = new Set([
  'AbortError',
  'ETIMEDOUT',
  'EncryptionFailedError',
  'MuxerUnavailableError',
  'TimeoutError',
  'WebRtcError',
])

/** The victim refused in so many words what was asked of it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/** The library of WebRTC failed, on a connection of the attacker's. */
export class WebRtcError extends Error {
  override readonly name = 'WebRtcError'
}

export class Tally {
  readonly #counts = new Map<string, number>()
  readonly #refusals = new Map<string, number>()
  readonly #keptOut = new Map<string, number>()
  readonly #failures = new Map<string, number>()

  /** Counts what reached the victim, as 'streams'. */
  count(what: string, times = 1): void {
    this.#counts.set(what, this.of(what) + times)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  /** Tells why one try came to nothing. Does not count what ends with the attack's own time. */
  missed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    const chain = errorChain(error)
    const isOneOf = (names: ReadonlySet<string>) =>
      chain.some(({ name, code }) => names.has(name) || names.has(code))
    const failed = isOneOf(KEPT_OUT) ? this.#keptOut : this.#failures
    const reasons = isOneOf(ENDED_BY_VICTIM) ? this.#refusals : failed
    const last = chain.at(-1)
    const reason = last === undefined ? String(error) : `${last.name}: ${last.message}`.slice(0, 120)
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }

  /** @param aim what has to be counted for the attack to have been carried out */
  carried(aim: string): Carried {
    if (this.of(aim) > 0) return 'carried out'
    if (this.#refusals.size > 0) return 'refused'
    if (this.#keptOut.size > 0) return 'kept out'
    return this.#failures.size > 0 ? 'failed' : 'never ran'
  }

  /** All of it for a person to read. */
  toString(): string {
    const counts = [...this.#counts].map(([what, times]) => `${Math.round(times)} ${what}`)
    const missed = [
      ...describe('refused', this.#refusals),
      ...describe('kept out', this.#keptOut),
      ...describe('failed', this.#failures),
    ]
    return [...counts, ...missed].join(', ') || 'nothing was done'
  }
}

function describe(what: string, reasons: ReadonlyMap<string, number>): readonly string[] {
  const all = [...reasons].toSorted(([, a], [, b]) => b - a)
  const times = all.reduce((sum, [, count]) => sum + count, 0)
  const [most] = all
  return most === undefined ? [] : [`${times} ${what} (mostly ${most[0]})`]
}
