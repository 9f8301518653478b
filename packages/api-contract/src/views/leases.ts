/** Defines the schema of a lease. */
import * as z from 'zod'
import { later } from '../later.ts'
import { peerId } from './fields.ts'

export const leaseView = later(() =>
  z
    .object({
      Name: z.string(),
      Holder: peerId().meta({ description: 'The member that holds it, as this node sees it.' }),
      Number: z.number().int().meta({
        description:
          'The fencing number: greater than that of each holder before. Give it to what the lease protects.',
      }),
      TTL: z.number().meta({ description: 'Seconds that it lasts after each renewal.' }),
    })
    .meta({ id: 'Lease' }),
)
export type LeaseView = z.output<ReturnType<typeof leaseView>>
