/** Lists what fails with leases. */
import type { ErrorDescription } from './error-description.ts'

export const leaseErrors = {
  'lease.held': {
    status: 409,
    title: 'The lease is held already',
    hint: 'Wait until its holder gives it back or is gone: the request takes Wait.',
    commandHint: 'Wait for it with --wait, or see `mesh lease` for its holder.',
  },
  'lease.lost': {
    status: 409,
    title: 'The lease is not held any more',
    hint: 'Stop what it allowed, and take it again without Number.',
    commandHint: 'Stop what it allowed, and take it again.',
  },
  'lease.released': {
    status: 409,
    title: 'The lease was given back',
    hint: 'Take it again.',
  },
  'lease.bad_name': {
    status: 400,
    title: 'This cannot be the name of a lease',
    hint: 'A name has 1 to 200 characters.',
  },
  'lease.bad_ttl': {
    status: 400,
    title: 'A lease cannot last so long, or so short',
    hint: 'Use a time from 5s to 1h.',
  },
  'lease.too_many': {
    status: 409,
    title: 'This node holds as many leases as it can',
    hint: 'Give one back that is not needed any more.',
  },
  'lease.no_ownership': {
    status: 409,
    title: 'Leases need a network that enforces ownership',
    hint: 'Start the node with --ownership enforce.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
