import type { TrafficHistoryView } from '@mesh/api-contract'
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useLive } from '../live/live-context.tsx'
import { joinHistory, stepsSince } from '../model/traffic-history.ts'
import { useClock } from '../parts/time.tsx'
import { useClient } from './client-context.tsx'

const HISTORY_EVERY_MS = 10_000
const HISTORY_KEY = ['getTrafficHistory']

/** The traffic of the last hour: all of it once, then what was added since. */
export function useTrafficHistory(): UseQueryResult<TrafficHistoryView> {
  const client = useClient()
  const clock = useClock()
  const queryClient = useQueryClient()
  const { ready } = useLive()
  return useQuery<TrafficHistoryView>({
    queryKey: HISTORY_KEY,
    queryFn: async ({ signal }) => {
      await ready
      const known = queryClient.getQueryData<TrafficHistoryView>(HISTORY_KEY)
      if (known === undefined) return client.getTrafficHistory({}, { signal })
      const last = String(stepsSince(known, clock.now()))
      const later = await client.getTrafficHistory({ last }, { signal })
      return joinHistory(known, later) ?? client.getTrafficHistory({}, { signal })
    },
    refetchInterval: HISTORY_EVERY_MS,
    structuralSharing: false,
  })
}
