/**
 * The history of many flows, by peer or by protocol. Each step:
 *
 * 1. what each flow gained since the step before
 * 2. a flow that carried more of late than one that has a series takes its place
 * 3. the flows with a series get their step; all others share one series
 */
import { KEPT_TRAFFIC_STEPS, MAX_TOLD_FLOWS, type TrafficHistoryView } from '@mesh/api-contract'
import { MAX_FLOW_SERIES } from '../limits.ts'
import type { TrafficStats } from '../ports.ts'
import { FlowSeries, gained } from './series.ts'

type Totals = Pick<TrafficStats, 'totalIn' | 'totalOut'>

interface Seen extends Totals {
  /** The bytes of about the last hour: older ones count less. */
  readonly weight: number
}

interface Gain {
  readonly bytesIn: number
  readonly bytesOut: number
}

/** A flow without a series takes the place of another one when it carried so many times more. */
const NEWCOMER_FACTOR = 2

export class Flows {
  /** Holds as many flows as the node counts, which bounds them. */
  #seen: ReadonlyMap<string, Seen>
  readonly #series = new Map<string, FlowSeries>()
  readonly #others = new FlowSeries()

  /** @param now the totals from which gains count */
  constructor(now: ReadonlyMap<string, Totals>) {
    this.#seen = new Map(
      [...now].map(([id, { totalIn, totalOut }]) => [id, { totalIn, totalOut, weight: 0 }]),
    )
  }

  step(now: ReadonlyMap<string, Totals>, steps: number): void {
    const gains = this.#take(now, steps)
    this.#placeNewcomers(gains)
    const others = { bytesIn: 0, bytesOut: 0 }
    for (const [id, { bytesIn, bytesOut }] of gains) {
      if (this.#series.has(id)) continue
      others.bytesIn += bytesIn
      others.bytesOut += bytesOut
    }
    this.#others.push(others.bytesIn, others.bytesOut, steps)
    for (const [id, series] of this.#series) {
      const { bytesIn = 0, bytesOut = 0 } = gains.get(id) ?? {}
      series.push(bytesIn, bytesOut, steps)
      if (series.total() === 0) this.#series.delete(id)
    }
  }

  /** Gives the flows that carried most, and all others as one. */
  told(steps: number): TrafficHistoryView['Peers'] {
    const sorted = [...this.#series]
      .map(([id, series]) => ({ id, series, total: series.total() }))
      .sort((a, b) => b.total - a.total)
    const others = new FlowSeries()
    others.add(this.#others)
    for (const { series } of sorted.slice(MAX_TOLD_FLOWS)) others.add(series)
    const flows = sorted
      .slice(0, MAX_TOLD_FLOWS)
      .map(({ id, series }) => ({ ID: id, ...series.rates(steps) }))
    return others.total() === 0 ? flows : [...flows, { ID: '', ...others.rates(steps) }]
  }

  #take(now: ReadonlyMap<string, Totals>, steps: number): ReadonlyMap<string, Gain> {
    const kept = (1 - 1 / KEPT_TRAFFIC_STEPS) ** steps
    const seen = new Map<string, Seen>()
    const gains = new Map<string, Gain>()
    for (const [id, { totalIn, totalOut }] of now) {
      const before = this.#seen.get(id)
      const bytesIn = gained(before?.totalIn, totalIn)
      const bytesOut = gained(before?.totalOut, totalOut)
      const weight = (before?.weight ?? 0) * kept + bytesIn + bytesOut
      seen.set(id, { totalIn, totalOut, weight })
      if (bytesIn + bytesOut > 0) gains.set(id, { bytesIn, bytesOut })
    }
    this.#seen = seen
    return gains
  }

  #placeNewcomers(gains: ReadonlyMap<string, Gain>): void {
    const newcomers = [...gains.keys()].filter((id) => !this.#series.has(id))
    newcomers.sort((a, b) => this.#weightOf(b) - this.#weightOf(a))
    for (const id of newcomers) if (!this.#place(id)) return
  }

  #place(id: string): boolean {
    if (this.#series.size >= MAX_FLOW_SERIES) {
      const [least, series] = [...this.#series].reduce((a, b) =>
        this.#weightOf(b[0]) < this.#weightOf(a[0]) ? b : a,
      )
      if (this.#weightOf(id) < NEWCOMER_FACTOR * this.#weightOf(least)) return false
      this.#others.add(series)
      this.#series.delete(least)
    }
    this.#series.set(id, new FlowSeries())
    return true
  }

  #weightOf(id: string): number {
    return this.#seen.get(id)?.weight ?? 0
  }
}
