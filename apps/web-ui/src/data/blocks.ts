/** Reading the blocks that the node keeps: the newest first, older ones when somebody asks for them. */
import {
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useLive } from '../live/live-context.tsx'
import { joinBlocks, type KnownBlocks, nextBefore } from '../model/kept-blocks.ts'
import { useClient } from './client-context.tsx'

const PAGE_BLOCKS = '100'
/** After the first page only what is new is asked for, and this is enough for a busy second. */
const NEW_BLOCKS = '20'
const BLOCKS_KEY = ['listBlocks']

/** The blocks read so far; `more` reads the page below them, and tells how many it found. */
export function useBlocks(): {
  readonly read: UseQueryResult<KnownBlocks>
  readonly more: UseMutationResult<number, Error, void>
} {
  const client = useClient()
  const queryClient = useQueryClient()
  const { ready } = useLive()
  const shown = () => queryClient.getQueryData<KnownBlocks>(BLOCKS_KEY)
  const read = useQuery<KnownBlocks>({
    queryKey: BLOCKS_KEY,
    queryFn: async ({ signal }) => {
      await ready
      if (shown() !== undefined) {
        const later = await client.listBlocks({ last: NEW_BLOCKS }, { signal })
        const known = shown()
        const joined = known && joinBlocks(known, later)
        if (joined !== undefined) return joined
      }
      const { Head, First, Blocks } = await client.listBlocks({ last: PAGE_BLOCKS }, { signal })
      return { head: Head, first: First, blocks: Blocks }
    },
    structuralSharing: false,
  })
  const more = useMutation({
    mutationFn: async () => {
      const known = shown()
      const before = known && nextBefore(known)
      if (before === undefined) return 0
      const older = await client.listBlocks({ before: String(before), last: PAGE_BLOCKS })
      queryClient.setQueryData<KnownBlocks>(BLOCKS_KEY, (now) => now && (joinBlocks(now, older) ?? now))
      return older.Blocks.length
    },
  })
  return { read, more }
}
