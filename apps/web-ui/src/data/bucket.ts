/**
 * Reading a bucket: its first keys, and further ones when somebody asks for them, so that a bucket of any size opens at
 * once.
 */
import type { ApiClient } from '@mesh/api-client'
import type { BucketView } from '@mesh/api-contract'
import {
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useLive } from '../live/live-context.tsx'
import { bucketQueryKey, type ShownBucket } from '../live/refresh-keys.ts'
import { useClient } from './client-context.tsx'

/** The keys read so far; `more` reads the page behind them. */
export function useBucket(bucket: string): {
  readonly read: UseQueryResult<ShownBucket>
  readonly more: UseMutationResult<void, Error, void>
} {
  const client = useClient()
  const queryClient = useQueryClient()
  const { ready } = useLive()
  const queryKey = bucketQueryKey(bucket)
  const shown = () => queryClient.getQueryData<ShownBucket>(queryKey)
  const read = useQuery<ShownBucket>({
    queryKey,
    queryFn: async ({ signal }) => {
      await ready
      const known = shown()
      const until = known?.next
      return readKeys(client, bucket, { until: known === undefined ? '' : until, signal })
    },
    // copies of answers would lose the key `__proto__`, and cost more than drawing 30 rows
    structuralSharing: false,
  })
  const more = useMutation({
    mutationFn: async () => {
      const after = shown()?.next
      if (after === undefined) return
      const { value, next } = await client.page('getBucket', { bucket, after })
      queryClient.setQueryData<ShownBucket>(queryKey, (known) => {
        if (known?.next !== after) return known
        return { values: joined(known.values, value), next }
      })
    },
  })
  return { read, more }
}

/** Reads pages until all keys up to `until` are there; undefined: all keys. At least one page. */
async function readKeys(
  client: ApiClient,
  bucket: string,
  { until, signal }: { readonly until: string | undefined; readonly signal: AbortSignal },
): Promise<ShownBucket> {
  let shown = { values: joined(), next: undefined as string | undefined }
  let after: string | undefined
  do {
    const input = { bucket, ...(after === undefined ? { limit: String(PAGE_KEYS) } : { after }) }
    const { value, next } = await client.page('getBucket', input, { signal })
    shown = { values: joined(shown.values, value), next }
    after = next
  } while (after !== undefined && (until === undefined || after < until))
  return shown
}

/** How many keys are read at once. */
const PAGE_KEYS = 1_000

/** Gives one map without a prototype, so that a key `__proto__` is a key like any other. */
function joined(...parts: readonly BucketView[]): BucketView {
  return Object.assign(Object.create(null), ...parts)
}
