import type { Metric } from '../ports.ts'
import { counter } from './metric-families.ts'

/** Requests answered, by route and status. */
export interface RequestCounts {
  add(route: string, status: number): void
  metric(): Metric
}

export function createRequestCounts(): RequestCounts {
  // routes and statuses are closed lists, so this stays small
  const counts = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>()
  return {
    add(route, status) {
      const id = `${route} ${status}`
      const count = counts.get(id) ?? { labels: { route, status: String(status) }, value: 0 }
      count.value++
      counts.set(id, count)
    },
    metric: () =>
      counter('mesh_api_requests_total', 'Requests answered, by route of the API and HTTP status.', [
        ...counts.values(),
      ]),
  }
}
