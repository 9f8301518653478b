import { BUCKETS } from '@mesh/core'

interface BucketRule {
  /** The word that stands beside the bucket's name. */
  readonly short: string
  /** The sentence above the bucket's keys. */
  readonly long: string
}

/** Who may write a bucket and when that ends, in words (docs/WIRE.md 4.4). */
export function bucketRule(bucket: string): BucketRule {
  return Object.hasOwn(RULES, bucket) ? (RULES[bucket] ?? OPEN) : OPEN
}

const OPEN: BucketRule = { short: 'open', long: 'Open: every member may write and delete every key.' }
const BY_MEMBER = 'Each key belongs to the member that its value names, for as long as that member is alive.'
const BY_KEY = 'Each key is a member and belongs to it, for as long as it is alive.'

const RULES: Readonly<Record<string, BucketRule>> = {
  machines: { short: 'owned', long: BY_MEMBER },
  services: { short: 'owned', long: BY_MEMBER },
  files: { short: 'owned', long: BY_MEMBER },
  routes: { short: 'owned', long: BY_MEMBER },
  users: { short: 'owned', long: BY_KEY },
  egress: { short: 'owned', long: BY_KEY },
  dns: {
    short: 'owned',
    long: 'Each key belongs to who wrote it first, for as long as that member is alive.',
  },
  [BUCKETS.healthcheck]: {
    short: 'heartbeats',
    long: 'Each member writes the time here while it is alive; an entry ends by itself.',
  },
}
