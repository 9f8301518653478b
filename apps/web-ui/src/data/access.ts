/** Who may use the network, and changing it: the peer gate of this node, members and invites. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useClient } from './client-context.tsx'

export interface MemberRequest {
  readonly peer: string
  readonly state: 'admitted' | 'revoked'
}

export function useSetMember(): UseMutationResult<unknown, Error, MemberRequest> {
  const client = useClient()
  return useAccessWrite(({ peer, state }: MemberRequest) =>
    client.putMember({ peer, body: { State: state } }),
  )
}

export interface InviteRequest {
  readonly label: string
  readonly lifeSeconds: number
}

export interface NewInvite {
  readonly Code: string
  readonly ExpiresAt: string
}

export function useCreateInvite(): UseMutationResult<NewInvite, Error, InviteRequest> {
  const client = useClient()
  return useAccessWrite(({ label, lifeSeconds }: InviteRequest) =>
    client.createInvite({ body: { LifeSeconds: lifeSeconds, ...(label !== '' && { Label: label }) } }),
  )
}

export function useCancelInvite(): UseMutationResult<unknown, Error, string> {
  const client = useClient()
  return useAccessWrite((invite: string) => client.cancelInvite({ invite }))
}

export function useSwitchGate(): UseMutationResult<unknown, Error, boolean> {
  const client = useClient()
  return useAccessWrite((on: boolean) => client.putPeergate({ state: on ? 'enable' : 'disable' }))
}

function useAccessWrite<Request, Answer>(
  write: (request: Request) => Promise<Answer>,
): UseMutationResult<Answer, Error, Request> {
  const queryClient = useQueryClient()
  return useMutation<Answer, Error, Request>({
    mutationFn: write,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['getAdmission'] }),
  })
}
