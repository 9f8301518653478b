/** The DNS server of this node, and who would answer for a name. */
import { dnsTypeName, type NameResolutionView, tryParseDnsType } from '@mesh/api-contract'
import { MeshError } from '@mesh/core'
import { issue, Problem } from '../messages/problem.ts'
import type { DnsPort, NameExplanation } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

const CODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

export function createDnsReads(dns: DnsPort | undefined): HandlersOf<'getDnsServer' | 'resolveName'> {
  return {
    getDnsServer() {
      const status = dns?.status()
      if (status === undefined) throw new Problem('dns.not_running')
      const { zone, listening, outcomes, names, forwarder } = status
      return {
        Zone: zone,
        Listening: listening.map(({ host, port }) => placeOf(host, port)),
        Names: names.automatic,
        Patterns: names.patterns,
        Cached: forwarder?.cached ?? 0,
        Forwarders: (forwarder?.servers ?? []).map(({ address, scope, port, domain, failing }) => ({
          Server: placeOf(scope === undefined ? address : `${address}%${scope}`, port),
          Domain: domain,
          LastError: failing?.reason ?? null,
        })),
        Queries: { ...outcomes },
      }
    },
    async resolveName({ name, type = 'A' }) {
      if (dns === undefined) throw new Problem('node.not_ready')
      const number = tryParseDnsType(type)
      if (number === undefined) {
        throw new Problem('http.bad_query', 'no record type', {
          issues: [issue('type', type, 'a record type like A, AAAA, TXT or TYPE65280')],
        })
      }
      try {
        return resolutionView(await dns.explain(name, number))
      } catch (error) {
        if (!(error instanceof MeshError) || error.code !== 'dns.bad_question') throw error
        throw new Problem('http.bad_path', error.message, {
          hint: 'A name has labels of 1 to 63 characters with dots between, like laptop.mesh.',
          issues: [issue('name', name, 'a name like laptop.mesh')],
        })
      }
    },
  }
}

function resolutionView(explained: NameExplanation): NameResolutionView {
  const { name, type, rcode, records, source, winner, losers, servers } = explained
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
}

function placeOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
