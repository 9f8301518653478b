/** Amounts of the last steps, in memory of fixed size: the oldest is overwritten. */
import { KEPT_TRAFFIC_STEPS, TRAFFIC_STEP_SECONDS } from '@mesh/api-contract'

export class Series {
  readonly #amounts = new Float64Array(KEPT_TRAFFIC_STEPS)
  /** The place of the newest step. */
  #newest = 0

  /** Adds steps that share an amount alike: more than one when the timer came late. */
  push(amount: number, steps: number): void {
    for (let step = 0; step < steps; step++) {
      this.#newest = (this.#newest + 1) % KEPT_TRAFFIC_STEPS
      this.#amounts[this.#newest] = amount / steps
    }
  }

  /** Adds another series, step by step from the newest. */
  add(other: Series): void {
    for (let back = 0; back < KEPT_TRAFFIC_STEPS; back++) {
      const place = this.#placeOf(back)
      this.#amounts[place] = (this.#amounts[place] ?? 0) + other.#amountOf(back)
    }
  }

  total(): number {
    return this.#amounts.reduce((sum, amount) => sum + amount, 0)
  }

  /** Gives the amounts per second of the last steps, the oldest first, with one decimal. */
  rates(steps: number): number[] {
    const rateOf = (at: number) =>
      Math.round((10 * this.#amountOf(steps - 1 - at)) / TRAFFIC_STEP_SECONDS) / 10
    return Array.from({ length: steps }, (_, at) => rateOf(at))
  }

  #amountOf(back: number): number {
    return this.#amounts[this.#placeOf(back)] ?? 0
  }

  #placeOf(back: number): number {
    return (this.#newest - back + KEPT_TRAFFIC_STEPS) % KEPT_TRAFFIC_STEPS
  }
}

/** Both directions of one flow. */
export class FlowSeries {
  readonly in = new Series()
  readonly out = new Series()

  push(bytesIn: number, bytesOut: number, steps: number): void {
    this.in.push(bytesIn, steps)
    this.out.push(bytesOut, steps)
  }

  add(other: FlowSeries): void {
    this.in.add(other.in)
    this.out.add(other.out)
  }

  total(): number {
    return this.in.total() + this.out.total()
  }

  rates(steps: number): { readonly In: number[]; readonly Out: number[] } {
    return { In: this.in.rates(steps), Out: this.out.rates(steps) }
  }
}

/** Gives what a counter gained since it stood at `before`; a counter that began anew counts from zero. */
export function gained(before: number | undefined, now: number): number {
  return before === undefined || now < before ? now : now - before
}
