/**
 * How many sessions others may have here, and open in a minute: by address and in all, since keys cost nothing; and how
 * much all of them together may leave waiting for an answer.
 */
import {
  type Clock,
  createRateLimiter,
  createTokenBucket,
  greatestGroup,
  KeyedCounts,
  type TokenBucket,
} from '@mesh/core'
import {
  ALL_SESSIONS_PER_MINUTE,
  MAX_MEMBERS_REMEMBERED,
  MAX_PENDING_PARTS,
  MAX_SESSIONS,
  MAX_SESSIONS_PER_ADDRESS,
  SESSIONS_PER_MINUTE_PER_ADDRESS,
} from '../limits.ts'
import type { ReplicationChannel } from '../ports.ts'

type Caller = Pick<ReplicationChannel, 'peer' | 'address'>

export class SessionSeats {
  /** Sessions that run, whoever opened them, by what their channel counts under. */
  readonly #running = new KeyedCounts<string>()
  /** The parts of messages that wait in each of them for an answer. */
  readonly #pending = new Map<ReplicationChannel, number>()
  readonly #calls: TokenBucket
  readonly #callsByAddress: ReturnType<typeof createRateLimiter>

  constructor(clock: Clock) {
    this.#calls = createTokenBucket(perMinute(ALL_SESSIONS_PER_MINUTE), clock)
    this.#callsByAddress = createRateLimiter(
      { ...perMinute(SESSIONS_PER_MINUTE_PER_ADDRESS), maxAddresses: MAX_MEMBERS_REMEMBERED },
      clock,
    )
  }

  /** True when another one may be opened from there; it counts as opened then. */
  mayCall(caller: Caller): boolean {
    const group = groupOf(caller)
    const isFull = this.#running.total >= MAX_SESSIONS || this.#running.of(group) >= MAX_SESSIONS_PER_ADDRESS
    return !isFull && this.#callsByAddress.take(group) && this.#calls.take()
  }

  /** Counts a session until the returned function is called. */
  sit(channel: ReplicationChannel): () => void {
    this.#running.add(groupOf(channel))
    return () => {
      this.#running.remove(groupOf(channel))
      this.#pending.delete(channel)
    }
  }

  /**
   * Notes how many parts wait in a session.
   * @returns the session that has to end, as all of them leave too much waiting: the largest of the address with the most
   */
  note(channel: ReplicationChannel, parts: number): ReplicationChannel | undefined {
    this.#pending.set(channel, parts)
    if (sumOf([...this.#pending]) <= MAX_PENDING_PARTS) return undefined
    const greatest = greatestGroup(
      this.#pending,
      ([each]) => groupOf(each),
      ([, waiting]) => waiting,
    )
    const [largest] = greatest.reduce((a, b) => (b[1] > a[1] ? b : a))
    this.#pending.delete(largest)
    return largest
  }
}

const groupOf = ({ peer, address }: Caller): string => address ?? peer

const sumOf = (pending: readonly (readonly [unknown, number])[]) =>
  pending.reduce((sum, [, parts]) => sum + parts, 0)

const perMinute = (most: number) => ({ perSecond: most / 60, burst: most })
