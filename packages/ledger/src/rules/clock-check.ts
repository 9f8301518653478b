/**
 * How far this machine's clock is from those of the other members, by the heartbeats that they send themselves. It
 * changes no judgement of entries: keys cost nothing, and whoever has many could set everybody's time.
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
}

interface Sample {
  readonly version: bigint
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

  /** Notes the version of a heartbeat that its owner sent itself, just now. */
  heard(owner: string, version: bigint): void {
    const known = this.#samples.get(owner)
    if (known !== undefined && known.version >= version) return
    const atMs = this.#clock.monotonic()
    this.#samples.set(owner, { version, offsetMs: Number(version / 1_000_000n) - atMs, atMs })
  }

  /** Undefined while no member was heard for ten minutes. */
  offset(): ClockOffset | undefined {
    const nowMs = this.#clock.monotonic()
    const recent = [...this.#samples.values()].filter(({ atMs }) => nowMs - atMs < CLOCK_SAMPLE_MS)
    const ownOffsetMs = this.#clock.now() - nowMs
    const aheads = recent.map(({ offsetMs }) => Math.round(ownOffsetMs - offsetMs)).sort((a, b) => a - b)
    const [least, most] = [aheads[(aheads.length - 1) >> 1], aheads[aheads.length >> 1]]
    if (least === undefined || most === undefined) return undefined
    return { aheadMs: Math.max(least, Math.min(most, 0)), members: aheads.length }
  }

  /** Is this machine's clock known to be near those of others? */
  get agrees(): boolean {
    const offset = this.offset()
    return offset !== undefined && Math.abs(offset.aheadMs) <= MAX_FUTURE_MS
  }
}
