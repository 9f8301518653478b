import { type ApiClient, ApiError } from '@mesh/api-client'
import type { BucketView } from '@mesh/api-contract'
import type { QueryClient } from '@tanstack/react-query'

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
  const queryKey = ['getBucket', { bucket }]
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
    queryClient.setQueryData<BucketView>(queryKey, (shown) => shown && withKeys(shown, values))
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

function withKeys(shown: BucketView, values: readonly KeyValue[]): BucketView {
  // without a prototype, so that a key `__proto__` is a key like any other
  const next: Record<string, unknown> = Object.assign(Object.create(null), shown)
  for (const [key, found] of values) {
    if (found === undefined) delete next[key]
    else next[key] = found.value
  }
  return next
}
