/** Names, the DNS server, and who answers for a name. */
import * as z from 'zod'
import { jsonMap } from '../json-map.ts'
import { later } from '../later.ts'
import { count } from './fields.ts'

export const dnsView = later(() =>
  z
    .object({
      Regex: z.string(),
      Records: jsonMap(z.string()).meta({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Record type (A, AAAA, ..., TYPE65280) to value.',
      }),
    })
    .meta({ id: 'DNSRecord' }),
)

export type DnsView = z.output<ReturnType<typeof dnsView>>

const nameClaim = later(() => z.object({ Name: z.string(), Owner: z.string() }))

export const nameResolutionView = later(() =>
  z
    .object({
      Name: z.string(),
      Type: z.string(),
      Code: z
        .string()
        .nullable()
        .meta({ description: 'NOERROR, NXDOMAIN, ...; null: whatever a forwarder says.' }),
      Records: z.array(z.object({ Name: z.string(), Type: z.string(), TTL: count(), Value: z.string() })),
      Source: z.enum(['machine', 'service', 'reverse', 'zone', 'pattern', 'forwarder', 'nobody']),
      Winner: nameClaim()
        .nullable()
        .meta({ description: 'The pattern or name that answers, and its owner.' }),
      Losers: z.array(nameClaim().extend({ Reason: z.string() })).meta({
        description:
          'Others that match: weaker, no_such_type, bad_value, bad_syntax, too_complex, too_many, automatic_name, later_claim.',
      }),
      Servers: z.array(z.string()).meta({ description: 'Who would be asked: ADDRESS:PORT.' }),
    })
    .meta({ id: 'NameResolution' }),
)

export type NameResolutionView = z.output<ReturnType<typeof nameResolutionView>>
