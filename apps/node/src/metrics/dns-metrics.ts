/** Families of the DNS server. */
import type { Metric } from '@mesh/api-server'
import type { DnsStatus } from '@mesh/dns'
import { counter, counts, gauge } from './metric-families.ts'

export function dnsMetrics({ outcomes, names, forwarder }: DnsStatus): readonly Metric[] {
  const kinds = { automatic: names.automatic, pattern: names.patterns }
  return [
    counts('mesh_dns_queries_total', 'Packets to the DNS server, by what became of them.', outcomes),
    gauge(
      'mesh_dns_names',
      'Automatic names, and patterns of the ledger.',
      Object.entries(kinds).map(([kind, value]) => ({ labels: { kind }, value })),
    ),
    ...(forwarder === undefined
      ? []
      : [
          counter('mesh_dns_cache_hits_total', 'Forwarded names answered from the cache.', forwarder.hits),
          counter(
            'mesh_dns_cache_misses_total',
            'Forwarded names that had to be asked for.',
            forwarder.misses,
          ),
          gauge('mesh_dns_cached_answers', 'Answers that are kept.', [{ value: forwarder.cached }]),
          gauge('mesh_dns_forwards_in_flight', 'Questions that wait for a server.', [
            { value: forwarder.inFlight },
          ]),
        ]),
  ]
}
