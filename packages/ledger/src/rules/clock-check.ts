/**
 * How far this machine's clock is from those of the other members, by what they tell in sessions and by the heartbeats that
 * they send themselves. It changes no judgement of entries: keys cost nothing, and anyone who has many could set everybody's
 * time.
 */
import { BoundedMap, type Clock } from '@mesh/core'
import { CLOCK_SAMPLE_MS, MAX_CLOCK_SAMPLES, MAX_FUTURE_MS } from '../limits.ts'

/** Judges this machine's clock by those of other members. */
export interface ClockOffset {
  /**
   * Milliseconds that this machine's clock is ahead of the members' median; less than zero: behind. Of an even number of
   * members the two in the middle may differ: between them this clock is held to be right, and outside the nearer one counts.
   */
  readonly aheadMs: number
  /** How many members were heard. */
  readonly members: number
  /**
   * Members whose clock differs so much from this machine's that one refuses the other's writes. Gives how far each clock is
   * ahead, in ms, the farthest first.
   */
  readonly differing: readonly { readonly member: string; readonly aheadMs: number }[]
}

interface Sample {
  /** The heartbeat's version; undefined when the member told its time itself. */
  readonly version: bigint | undefined
  /** The member's time less this node's monotonic time, in ms: stays right when this machine's clock is set. */
  readonly offsetMs: number
  /** The time in ms of the monotonic clock. */
  readonly atMs: number
}

export class ClockCheck {
  readonly #clock: Clock
  readonly #samples = new BoundedMap<string, Sample>(MAX_CLOCK_SAMPLES)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes the time that a member told itself, Unix ms, just now. */
  told(member: string, nowMs: number): void {
    this.#note(member, undefined, nowMs)
  }

  /** Notes the version of a heartbeat that its owner sent itself, which may have been under way for a while. */
  heard(owner: string, version: bigint): void {
    const known = this.#samples.get(owner)
    const isTold = known?.version === undefined
    if (known !== undefined && isTold && this.#isRecent(known)) return
    const behind = (known?.version ?? version - 1n) - version
    // a much older one than before is no late one: that clock was set back
    if (behind >= 0n && behind <= BigInt(MAX_FUTURE_MS) * 1_000_000n) return
    this.#note(owner, version, Number(version / 1_000_000n))
  }

  /** Undefined while no member was heard for ten minutes. */
  offset(): ClockOffset | undefined {
    const own = this.#clock.now() - this.#clock.monotonic()
    const clocks = [...this.#samples]
      .filter(([, sample]) => this.#isRecent(sample))
      .map(([member, { offsetMs }]) => ({ member, aheadMs: Math.round(offsetMs - own) }))
      .sort((a, b) => b.aheadMs - a.aheadMs)
    const [least, most] = [clocks[clocks.length >> 1], clocks[(clocks.length - 1) >> 1]]
    if (least === undefined || most === undefined) return undefined
    const differing = clocks
      .filter(({ aheadMs }) => Math.abs(aheadMs) > MAX_FUTURE_MS)
      .sort((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs))
    // the members' clocks are ahead of this one by what this one is behind
    const aheadMs = 0 - Math.max(least.aheadMs, Math.min(most.aheadMs, 0))
    return { aheadMs, members: clocks.length, differing }
  }

  /**
   * True where `offset` is known and no more than `MAX_FUTURE_MS` either way. It is asked for with each heartbeat that comes, so
   * that members are counted and not sorted: the median is far off when more than half are.
   */
  get agrees(): boolean {
    const own = this.#clock.now() - this.#clock.monotonic()
    let [members, ahead, behind] = [0, 0, 0]
    for (const [, sample] of this.#samples) {
      if (!this.#isRecent(sample)) continue
      const aheadMs = Math.round(sample.offsetMs - own)
      members++
      if (aheadMs > MAX_FUTURE_MS) ahead++
      if (aheadMs < -MAX_FUTURE_MS) behind++
    }
    return members > 0 && ahead * 2 <= members && behind * 2 <= members
  }

  #note(member: string, version: bigint | undefined, timeMs: number): void {
    const atMs = this.#clock.monotonic()
    this.#samples.set(member, { version, offsetMs: timeMs - atMs, atMs })
  }

  #isRecent({ atMs }: Sample): boolean {
    return this.#clock.monotonic() - atMs < CLOCK_SAMPLE_MS
  }
}
