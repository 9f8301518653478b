import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ApiClient } from '@mesh/api-client'
import { useClient } from './client-context.tsx'

/** The bound on what one search reads: a larger ledger is searched in part, and the search says so. */
export const MAX_SEARCHED_KEYS = 10_000
/** How long keys that were read count as new, in ms. */
const FRESH_MS = 10_000
const PAGE_KEYS = 1_000

export interface LedgerKeys {
  readonly keys: readonly { readonly bucket: string; readonly key: string }[]
  /** There are more, which were not read. */
  readonly isCut: boolean
}

/** Reads the keys of all buckets, page by page, once somebody searches for one. */
export function useLedgerKeys(enabled: boolean): UseQueryResult<LedgerKeys> {
  const client = useClient()
  return useQuery({
    queryKey: ['ledgerKeys'],
    queryFn: ({ signal }) => readKeys(client, signal),
    enabled,
    staleTime: FRESH_MS,
    gcTime: FRESH_MS,
  })
}

async function readKeys(client: ApiClient, signal: AbortSignal): Promise<LedgerKeys> {
  const { Buckets } = await client.getDigest({}, { signal })
  const keys: { readonly bucket: string; readonly key: string }[] = []
  for (const bucket of Object.keys(Buckets)) {
    let after: string | undefined
    do {
      const input = { bucket, limit: String(PAGE_KEYS), ...(after !== undefined && { after }) }
      const { value, next } = await client.page('getBucket', input, { signal })
      keys.push(...Object.keys(value).map((key) => ({ bucket, key })))
      if (keys.length >= MAX_SEARCHED_KEYS) return { keys: keys.slice(0, MAX_SEARCHED_KEYS), isCut: true }
      after = next
    } while (after !== undefined)
  }
  return { keys, isCut: false }
}
