/** Guests of this node: stock WireGuard apps that it carries for. */
import type { GuestConfigurationView, GuestView } from '@mesh/api-contract'
import {
  type UseMutationResult,
  useMutation,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useClient } from './client-context.tsx'
import { useRead } from './reads.ts'

/** Handshakes and counters come with no event. */
const COUNTERS_EVERY_MS = 3_000

export function useGuests(): UseQueryResult<readonly GuestView[]> {
  // a node without a VPN has none, and will not get one while it runs
  return useRead(
    'listGuests',
    {},
    { everyMs: (_known, error) => (error === null ? COUNTERS_EVERY_MS : false) },
  )
}

export interface GuestRequest {
  readonly name: string
  /** Where it finds the node; '' leaves that to the node. */
  readonly endpoint: string
  /** It sends all to the node, what is for the Internet too. */
  readonly fullTunnel: boolean
}

/** Makes a guest; the answer is the only place where its private key stands. */
export function useAddGuest(): UseMutationResult<GuestConfigurationView, Error, GuestRequest> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation<GuestConfigurationView, Error, GuestRequest>({
    mutationFn: ({ name, endpoint, fullTunnel }) =>
      client.createGuest({
        body: {
          Name: name,
          ...(endpoint !== '' && { Endpoint: endpoint }),
          ...(fullTunnel && { FullTunnel: true }),
        },
      }),
    // no cache keeps the private key
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['listGuests'] }),
  })
}

export function useRemoveGuest(): UseMutationResult<object, Error, string> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation<object, Error, string>({
    mutationFn: (name) => client.deleteGuest({ name }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['listGuests'] }),
  })
}
