/** The DNS as the API shows it, in the names of the contract. */
import { dnsTypeName } from '@mesh/api-contract'
import type { DnsPort } from '@mesh/api-server'
import { formatPlace } from '../words/format-place.ts'
import type { NodeDns } from './node-dns.ts'

const CODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

export function createDnsPort(dns: Pick<NodeDns, 'explain' | 'status'>): DnsPort {
  return {
    async explain(asked, number) {
      const { name, type, rcode, records, source, winner, losers, servers } = await dns.explain(asked, number)
      return {
        Name: name,
        Type: dnsTypeName(type),
        Code: rcode === undefined ? null : (CODES[rcode] ?? `RCODE${rcode}`),
        Records: records.map((record) => ({
          Name: record.name,
          Type: dnsTypeName(record.type),
          TTL: record.ttl,
          Value: record.text,
        })),
        Source: source,
        Winner: winner === undefined ? null : { Name: winner.name, Owner: winner.owner },
        Losers: losers.map((loser) => ({ Name: loser.name, Owner: loser.owner, Reason: loser.reason })),
        Servers: [...servers],
      }
    },
    status() {
      const status = dns.status()
      if (status === undefined) return undefined
      const { zone, listening, outcomes, names, forwarder } = status
      return {
        Zone: zone,
        Listening: listening.map(({ host, port }) => formatPlace(host, port)),
        Names: names.automatic,
        Patterns: names.patterns,
        Cached: forwarder?.cached ?? 0,
        Forwarders: (forwarder?.servers ?? []).map(({ address, scope, port, domain, failing }) => ({
          Server: formatPlace(scope === undefined ? address : `${address}%${scope}`, port),
          Domain: domain,
          LastError: failing?.reason ?? null,
        })),
        Queries: { ...outcomes },
      }
    },
  }
}
