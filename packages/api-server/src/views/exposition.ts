/** The Prometheus text format, version 0.0.4. */
import type { Metric } from '../ports.ts'

export function formatMetrics(metrics: readonly Metric[]): string {
  return metrics.map(formatFamily).join('')
}

function formatFamily({ name, help, type, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => `${name}${formatLabels(labels)} ${formatValue(value)}\n`)
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function formatLabels(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function formatValue(value: number | bigint): string {
  if (typeof value === 'bigint' || Number.isFinite(value)) return value.toString()
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
