/** The DNS server of this node, and who would answer for a name. */
import { tryParseDnsType } from '@mesh/api-contract'
import { MeshError } from '@mesh/core'
import { issue, Problem } from '../messages/problem.ts'
import type { DnsPort } from '../ports.ts'
import type { HandlersOf } from './handler.ts'

export function createDnsReads(dns: DnsPort | undefined): HandlersOf<'getDnsServer' | 'resolveName'> {
  return {
    getDnsServer() {
      const status = dns?.status()
      if (status === undefined) throw new Problem('dns.not_running')
      return status
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
        return await dns.explain(name, number)
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
