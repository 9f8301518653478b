/** Builds families of the Prometheus text format. */
import type { Metric } from '../ports.ts'

type Samples = Metric['samples']

export function gauge(name: string, help: string, value: number | Samples): Metric {
  return { name, help, type: 'gauge', samples: samplesOf(value) }
}

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
