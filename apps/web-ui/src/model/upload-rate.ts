/** The speed of an upload over its last seconds. */

const WINDOW_MS = 5_000

export interface Sample {
  /** Monotonic time, in ms. */
  readonly at: number
  /** All bytes until then. */
  readonly bytes: number
}

export type Samples = readonly Sample[]

export const NO_SAMPLES: Samples = []

/** Adds a sample, and leaves out those that are too old. Bytes that go back begin anew. */
export function addSample(samples: Samples, sample: Sample): Samples {
  const last = samples.at(-1)
  if (last !== undefined && last.bytes > sample.bytes) return [sample]
  return [...samples.filter(({ at }) => sample.at - at <= WINDOW_MS), sample]
}

/** Bytes per second; 0 while that is not known. */
export function rateOf(samples: Samples): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined || last.at <= first.at) return 0
  return ((last.bytes - first.bytes) / (last.at - first.at)) * 1_000
}
