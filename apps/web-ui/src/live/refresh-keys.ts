import { type ApiClient, ApiError } from '@mesh/api-client'
import type { QueryClient } from '@tanstack/react-query'
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

/** How many keys of a bucket are asked for one by one; beyond, asking for the whole bucket costs less. */
const MAX_SINGLE_KEYS = 12

interface RefreshComponents {
  readonly client: ApiClient
  readonly queryClient: QueryClient
}

/**
 * Brings keys of a bucket up to date where they are shown, without reading the whole bucket for a few of them.
 * @param keys true: it was deleted
 */
export async function refreshKeys(
  { client, queryClient }: RefreshComponents,
  bucket: string,
  keys: ReadonlyMap<string, boolean>,
): Promise<void> {
  const queryKey = bucketQueryKey(bucket)
  const signed = [...keys.keys()].flatMap((key) => [
    queryClient.invalidateQueries({ queryKey: ['getSignedEntry', { bucket, key }] }),
    queryClient.invalidateQueries({ queryKey: ['getEntry', { bucket, key }] }),
  ])
  const query = queryClient.getQueryCache().find({ queryKey, exact: true })
  if (query === undefined) {
    await Promise.all(signed)
    return
  }
  const single = query.isActive() && query.state.fetchStatus === 'idle' && query.state.data !== undefined
  if (!single || keys.size > MAX_SINGLE_KEYS) {
    await Promise.all([...signed, queryClient.invalidateQueries({ queryKey, exact: true })])
    return
  }
  try {
    const values = await Promise.all(
      [...keys].map(([key, deleted]) => readKey(client, { bucket, key, deleted })),
    )
    queryClient.setQueryData<ShownBucket>(queryKey, (shown) => shown && withKeys(shown, values))
  } catch {
    await queryClient.invalidateQueries({ queryKey, exact: true })
  }
  await Promise.all(signed)
}

interface ChangedKey {
  readonly bucket: string
  readonly key: string
  readonly deleted: boolean
}

type KeyValue = readonly [key: string, value: { readonly value: unknown } | undefined]

/** An entry that is not there any more has no value. */
async function readKey(client: ApiClient, { bucket, key, deleted }: ChangedKey): Promise<KeyValue> {
  if (deleted) return [key, undefined]
  try {
    return [key, { value: await client.getEntry({ bucket, key }) }]
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ledger.not_found') return [key, undefined]
    throw error
  }
}

/** Keys behind those that were read stay unread. */
function withKeys({ values: shown, next }: ShownBucket, changes: readonly KeyValue[]): ShownBucket {
  // without a prototype, so that a key `__proto__` is a key like any other
  const values: Record<string, unknown> = Object.assign(Object.create(null), shown)
  for (const [key, found] of changes) {
    if (next !== undefined && key > next) continue
    if (found === undefined) delete values[key]
    else values[key] = found.value
  }
  return { values, next }
}
