/** Builds families of the Prometheus text format. */
import type { Metric } from '@mesh/api-server'

export function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: [{ value }] }
}

/** A counter with a sample for each code. */
export function counts(
  name: string,
  help: string,
  byCode: Readonly<Record<string, number | undefined>>,
): Metric {
  const samples = Object.entries(byCode).map(([code, value = 0]) => ({ labels: { code }, value }))
  return { name, help, type: 'counter', samples }
}

export function gauge(name: string, help: string, samples: Metric['samples']): Metric {
  return { name, help, type: 'gauge', samples }
}
