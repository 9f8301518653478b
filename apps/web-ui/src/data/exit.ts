/** The exit node of this machine: who it is, and choosing another one or none. */
import type { VpnView } from '@mesh/api-contract'
import {
  type UseMutationResult,
  useMutation,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useClient } from './client-context.tsx'
import { useRead } from './reads.ts'

/** How the exit is comes with no event. */
const EXIT_EVERY_MS = 3_000

/** The VPN of this node, with its exit and who offers one. */
export function useExit(): UseQueryResult<VpnView> {
  // a node without a VPN has none, and will not get one while it runs
  return useRead('getVpn', {}, { everyMs: (_known, error) => (error === null ? EXIT_EVERY_MS : false) })
}

/** Leads what leaves for the Internet through the member with this id, or through none (null). */
export function useChooseExit(): UseMutationResult<unknown, Error, string | null> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation<unknown, Error, string | null>({
    mutationFn: (peer) =>
      peer === null ? client.deleteExitNode() : client.putExitNode({ body: { Exit: peer } }),
    onSuccess: () =>
      Promise.all(
        (['getVpn', 'getHealth'] as const).map((route) =>
          queryClient.invalidateQueries({ queryKey: [route] }),
        ),
      ),
  })
}
