/**
 * How many sessions others may have here, and open in a minute: by address and in all, since keys cost nothing; and how
 * much all of them together may leave waiting for an answer.
 */
import { type Clock, createFairRate, greatestGroup, KeyedCounts } from '@mesh/core'
import {
  ALL_SESSIONS_PER_MINUTE,
  MAX_MEMBERS_REMEMBERED,
  MAX_PENDING_PARTS,
  MAX_SESSIONS,
  MAX_SESSIONS_PER_ADDRESS,
  SESSIONS_PER_MINUTE_PER_ADDRESS,
  SLOW_SESSION_MS,
  STALE_SESSION_MS,
} from '../limits.ts'
import { replicationError } from '../errors.ts'
import type { ReplicationChannel } from '../ports.ts'
import type { RemoteWait } from './remote-wait.ts'

/** How long the remote of a session has kept it waiting for nothing. */
type Waited = Pick<RemoteWait, 'waitedMs'>
type Caller = Pick<ReplicationChannel, 'peer' | 'address'>

export class SessionSeats {
  /** Sessions that others opened and that run, by what their channel counts under. */
  readonly #running = new KeyedCounts<string>()
  readonly #waits = new Map<ReplicationChannel, Waited>()
  /** The parts of messages that wait in each of them for an answer. */
  readonly #pending = new Map<ReplicationChannel, number>()
  readonly #calls: ReturnType<typeof createFairRate>

  constructor(clock: Clock) {
    const ofAddress = perMinute(SESSIONS_PER_MINUTE_PER_ADDRESS)
    const ofAll = perMinute(ALL_SESSIONS_PER_MINUTE)
    this.#calls = createFairRate({ ofAddress, ofAll, maxAddresses: MAX_MEMBERS_REMEMBERED }, clock)
  }

  /** True when another one may be opened from there; it counts as opened then. A slow one makes way where all seats are taken. */
  mayCall(caller: Caller): boolean {
    const group = groupOf(caller)
    const isAddressFull = this.#running.of(group) >= MAX_SESSIONS_PER_ADDRESS
    const isFull = isAddressFull || this.#running.total >= MAX_SESSIONS
    const slow = isFull ? this.#slowest(group, isAddressFull) : undefined
    if (isFull && slow === undefined) return false
    if (!this.#calls.take(group)) return false
    if (slow !== undefined) this.#leave(slow)
    slow?.abort(replicationError('replication.timeout', 'others wait'))
    return true
  }

  /** Counts a session until the returned function is called. @param remote undefined for one that this node opened, which takes no seat */
  sit(channel: ReplicationChannel, remote: Waited | undefined): () => void {
    if (remote !== undefined) {
      this.#running.add(groupOf(channel))
      this.#waits.set(channel, remote)
    }
    return () => this.#leave(channel)
  }

  #leave(channel: ReplicationChannel): void {
    this.#pending.delete(channel)
    if (this.#waits.delete(channel)) this.#running.remove(groupOf(channel))
  }

  /**
   * The session whose remote has kept it waiting for longest, and for long enough: of the caller's own group where that has all
   * that it may have, or else of the group with the most, sooner where that has more than the caller's.
   */
  #slowest(group: string, isOwn: boolean): ReplicationChannel | undefined {
    const [most, count] = this.#running.greatest() ?? [group, 0]
    const from = isOwn ? group : most
    const leastMs = !isOwn && count > this.#running.of(group) + 1 ? SLOW_SESSION_MS : STALE_SESSION_MS
    const slow = [...this.#waits].filter(
      ([channel, { waitedMs }]) => groupOf(channel) === from && waitedMs >= leastMs,
    )
    return slow.toSorted(([, a], [, b]) => b.waitedMs - a.waitedMs)[0]?.[0]
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
