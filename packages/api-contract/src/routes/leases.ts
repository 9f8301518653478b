/** Leases: one holder at a time, for programs that need one leader. */
import * as z from 'zod'
import { leaseDuration, leaseNumber, lookupName, waitDuration } from '../names.ts'
import { routesOf } from '../route.ts'
import { leaseView } from '../views/leases.ts'
import { removedView } from '../views/offers.ts'
import { json, list } from './answers.ts'

const route = routesOf('ledger')
const named = z.object({ name: lookupName.meta({ example: 'backup' }) })

/** The promise of a lease, in one sentence. */
const PROMISE =
  'Among members that reach each other a lease has one holder at a time; in a partition each side may have one until the sides meet again, and only the fencing number tells them apart.'

export const leaseRoutes = {
  listLeases: route('GET /api/leases', {
    summary: 'Leases that a member holds now',
    answer: list(leaseView, `As this node sees them. ${PROMISE}`),
    errors: [],
  }),
  takeLease: route('POST /api/leases/:name', {
    summary: 'Take a lease, or renew it with its number',
    params: named,
    body: z
      .object({
        TTL: leaseDuration,
        Wait: waitDuration.optional().meta({
          description: 'How long to wait for a lease that is held (30s; at most 60s). A free one takes 3 s.',
        }),
        Number: z.number().int().nonnegative().optional().meta({
          description: 'Renew the lease that was taken with this number. Do so three times in each TTL.',
        }),
      })
      .meta({ id: 'LeaseRequest' }),
    answer: json(leaseView, `This node holds it for its TTL. ${PROMISE}`),
    errors: [
      'node.not_ready',
      'lease.held',
      'lease.lost',
      'lease.released',
      'lease.bad_name',
      'lease.bad_ttl',
      'lease.too_many',
      'lease.no_ownership',
    ],
  }),
  releaseLease: route('DELETE /api/leases/:name', {
    summary: 'Give a lease back, so that another member has it at once',
    params: named,
    query: z.object({ number: leaseNumber }),
    answer: json(removedView, 'It is given back.'),
    errors: ['node.not_ready', 'lease.lost'],
  }),
}
