/** Builds families of the Prometheus text format. */
import type { Metric } from '../ports.ts'

type Samples = Metric['samples']

/** Gives a family of one value, a number of things unless its name says another unit, or of one for each label. */
export function gauge(name: string, help: string, value: number | Samples): Metric {
  return { name, help, type: 'gauge', samples: samplesOf(value) }
}

/** Gives a family of sums since the start in the same units: the number of things, seconds, bytes. */
export function counter(name: string, help: string, value: number | Samples): Metric {
  return { name, help, type: 'counter', samples: samplesOf(value) }
}

/** A sample for each value, with its name as a label. */
export function labelled(label: string, values: Readonly<Record<string, number | undefined>>): Samples {
  return Object.entries(values).map(([name, value = 0]) => ({ labels: { [label]: name }, value }))
}

function samplesOf(value: number | Samples): Samples {
  return typeof value === 'number' ? [{ value }] : value
}
