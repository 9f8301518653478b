/** Names: the patterns of the ledger, the DNS server of this node, and who would answer for a name. */
import * as z from 'zod'
import { entryKey, lookupName } from '../names.ts'
import { pageOfKeys } from '../paging.ts'
import { routesOf } from '../route.ts'
import { dnsView, nameResolutionView } from '../views/dns.ts'
import { dnsServerView } from '../views/dns-server.ts'
import { writeView } from '../views/write.ts'
import { json, list } from './answers.ts'
import { putErrors, wait } from './ledger-writes.ts'

/** How many of the records that are wrong an answer names. */
const MAX_NAMED_ISSUES = 32

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

const route = routesOf('dns')

export const dnsRoutes = {
  listDns: route('GET /api/dns', {
    summary: 'Registered name patterns and their records',
    query: z.object(pageOfKeys),
    answer: list(dnsView, 'The bucket `dns`.'),
    errors: [],
  }),
  createDns: route('POST /api/dns', {
    summary: 'Register a name pattern',
    query: wait,
    body: z
      .object({
        Regex: entryKey,
        Records: z
          .custom<Readonly<Record<string, string>>>(isObject, 'an object of record type to text')
          .superRefine((records, context) => {
            let named = 0
            // without a list of what may be thousands
            for (const type in isObject(records) ? records : {}) {
              if (typeof records[type] === 'string') continue
              if (++named > MAX_NAMED_ISSUES) return
              context.addIssue({ code: 'custom', path: [type], message: 'text, like "10.1.0.11"' })
            }
          })
          .meta({
            type: 'object',
            additionalProperties: { type: 'string' },
            example: { A: '10.1.0.11' },
          }),
      })
      .meta({ id: 'DNSRequest' }),
    answer: json(writeView, 'What became of the write.'),
    errors: putErrors,
  }),
  getDnsServer: route('GET /api/dns/server', {
    summary: 'The DNS server of this node: where it listens, what it knows, whom it asks',
    answer: json(dnsServerView, 'The DNS server.'),
    errors: ['dns.not_running'],
  }),
  resolveName: route('GET /api/dns/resolve/:name', {
    summary: 'Test a name: who would answer for it, from which pattern, and why not from the others',
    params: z.object({ name: lookupName.meta({ example: 'laptop.mesh' }) }),
    query: z.object({
      type: z
        .string()
        .max(20)
        .optional()
        .meta({ description: 'Record type; A unless given.', example: 'AAAA' }),
    }),
    answer: json(nameResolutionView, 'The answer of this network, also on a node without a DNS server.'),
    errors: ['dns.busy', 'node.not_ready'],
  }),
} as const
