/** Schema of the embedded DNS server. */
import * as z from 'zod'
import { jsonMap } from '../json-map.ts'
import { later } from '../later.ts'
import { count } from './fields.ts'

export const dnsServerView = later(() =>
  z
    .object({
      Zone: z.string().meta({ description: 'Of the automatic names: `mesh.`' }),
      Listening: z.array(z.string()).meta({ description: 'ADDRESS:PORT, UDP and TCP.' }),
      Names: count().meta({ description: 'Automatic names: machines, services, addresses.' }),
      Patterns: count(),
      Cached: count().meta({ description: 'Forwarded answers that are kept.' }),
      Forwarders: z.array(
        z.object({
          Server: z.string(),
          Domain: z.string().meta({ description: '`.`: all names.' }),
          LastError: z.string().nullable(),
        }),
      ),
      Queries: jsonMap(count()).meta({ type: 'object', additionalProperties: { type: 'integer' } }),
    })
    .meta({ id: 'DNSServer' }),
)

export type DnsServerView = z.output<ReturnType<typeof dnsServerView>>
