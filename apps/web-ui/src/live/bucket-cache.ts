/** The place of a bucket in the cache of answers, and what stands there. */
import type { BucketView } from '@mesh/api-contract'

/** The part of a bucket that was read. */
export interface ShownBucket {
  readonly values: BucketView
  /** The key behind which the keys begin that were not read; undefined when all were. */
  readonly next: string | undefined
}

export function bucketQueryKey(bucket: string): readonly unknown[] {
  return ['getBucket', { bucket }]
}
