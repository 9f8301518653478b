/** Changes of the node other than writes of the ledger: access, guests, the exit, and what the node offers. */
import type { ApiClient } from '@mesh/api-client'
import type { GuestConfigurationView, RouteId, RulesCheckView } from '@mesh/api-contract'
import {
  skipToken,
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { OfferKind } from '../model/commands.ts'
import { takesFreePort } from '../model/offer-words.ts'
import { useClient } from './client-context.tsx'

/** Asks the node for a change, and reads again what shows it. */
export function useChange<Request, Answer = unknown>(
  changed: readonly RouteId[],
  change: (client: ApiClient, request: Request) => Promise<Answer>,
): UseMutationResult<Answer, Error, Request> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation<Answer, Error, Request>({
    mutationFn: (request) => change(client, request),
    // no cache keeps a private key or the code of an invite
    gcTime: 0,
    onSuccess: () =>
      Promise.all(changed.map((route) => queryClient.invalidateQueries({ queryKey: [route] }))),
  })
}

interface MemberRequest {
  readonly peer: string
  readonly state: 'admitted' | 'revoked'
}

export const useSetMember = () =>
  useChange(['getAdmission'], (client, { peer, state }: MemberRequest) =>
    client.putMember({ peer, body: { State: state } }),
  )

interface InviteRequest {
  readonly label: string
  readonly lifeSeconds: number
  /** How long the machine that uses it is a member; undefined: for good. */
  readonly memberForSeconds: number | undefined
}

export interface NewInvite {
  readonly Code: string
  readonly Link: string
  readonly ExpiresAt: string
}

export const useCreateInvite = () =>
  useChange<InviteRequest, NewInvite>(['getAdmission'], (client, { label, lifeSeconds, memberForSeconds }) =>
    client.createInvite({
      body: {
        LifeSeconds: lifeSeconds,
        ...(label !== '' && { Label: label }),
        ...(memberForSeconds !== undefined && { MemberForSeconds: memberForSeconds }),
      },
    }),
  )

export const useSetApproval = () =>
  useChange(['getAdmission'], (client, isRequired: boolean) =>
    client.putApproval({ body: { Required: isRequired } }),
  )

export const useCancelInvite = () =>
  useChange(['getAdmission'], (client, invite: string) => client.cancelInvite({ invite }))

export const useSwitchGate = () =>
  useChange(['getAdmission'], (client, on: boolean) =>
    client.putPeergate({ state: on ? 'enable' : 'disable' }),
  )

/** Asks what a policy would do; nothing changes. */
export const useCheckRules = () =>
  useChange<string, RulesCheckView>([], (client, text) => client.checkRules({ body: { Text: text } }))

interface PolicyRequest {
  readonly Text: string
  /** The serial number of the policy that it was made from; 0 for none. */
  readonly Serial: number
  readonly Force: boolean
}

export const useSignRules = () =>
  useChange(['getRules', 'listWhoReaches'], (client, body: PolicyRequest) => client.putRules({ body }))

/** Leads what leaves for the Internet through the member with this id, or through none (null). */
export const useChooseExit = () =>
  useChange<string | null>(['getVpn', 'getHealth'], (client, peer) =>
    peer === null ? client.deleteExitNode() : client.putExitNode({ body: { Exit: peer } }),
  )

interface GuestRequest {
  readonly name: string
  /** Where it finds the node; '' leaves that to the node. */
  readonly endpoint: string
  /** It sends all to the node, what is for the Internet too. */
  readonly fullTunnel: boolean
}

/** Makes a guest; the answer is the only place where its private key stands. */
export const useAddGuest = () =>
  useChange<GuestRequest, GuestConfigurationView>(['listGuests'], (client, { name, endpoint, fullTunnel }) =>
    client.createGuest({
      body: {
        Name: name,
        ...(endpoint !== '' && { Endpoint: endpoint }),
        ...(fullTunnel && { FullTunnel: true }),
      },
    }),
  )

export const useRemoveGuest = () =>
  useChange(['listGuests'], (client, name: string) => client.deleteGuest({ name }))

export interface OfferRequest {
  readonly name: string
  /** The target of a service, where a connection listens, or the path of a file. */
  readonly place: string
}

const LISTS = {
  service: 'listNodeServices',
  connection: 'listNodeConnections',
  file: 'listNodeFiles',
} as const

/** Offers, connects or shares under a name; what had the name before is replaced. */
export function usePutOffer(kind: OfferKind) {
  const queryClient = useQueryClient()
  return useChange([LISTS[kind]], async (client, { name, place }: OfferRequest) => {
    switch (kind) {
      case 'service':
        return client.putNodeService({ name, body: { Target: place } })
      case 'file':
        return client.putNodeFile({ name, body: { Path: place } })
      case 'connection':
        await client.putNodeConnection({ name, body: { Listen: place } })
        queryClient.setQueryData<readonly string[]>(FREE_PORTS, (known = []) => [
          ...known.filter((each) => each !== name),
          ...(takesFreePort(place) ? [name] : []),
        ])
    }
  })
}

/**
 * True: the connection was asked for with any free port, on this page and since it was opened. The node tells only
 * which port it became.
 */
export function useTakesFreePort(name: string): boolean {
  const { data = [] } = useQuery<readonly string[]>({
    queryKey: FREE_PORTS,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data.includes(name)
}

const FREE_PORTS = ['freePorts']

/** Withdraws what has the name. */
export const useRemoveOffer = (kind: OfferKind) =>
  useChange([LISTS[kind]], (client, name: string) => {
    switch (kind) {
      case 'service':
        return client.deleteNodeService({ name })
      case 'connection':
        return client.deleteNodeConnection({ name })
      case 'file':
        return client.deleteNodeFile({ name })
    }
  })

/** Fetches a file or folder of a member into the inbox of the node. */
export const useReceiveFile = () =>
  useChange(['listNodeDownloads'], (client, name: string) => client.receiveNodeFile({ name }))

/** Ends a download and forgets it; what has come stays on the disk. */
export const useEndDownload = () =>
  useChange(['listNodeDownloads'], (client, name: string) => client.deleteNodeDownload({ name }))

interface LogLevelRequest {
  readonly level: string
  /** True: the level holds after a restart, too. */
  readonly keep: boolean
}

export const useSetLogLevel = () =>
  useChange(['getLogLevel'], (client, { level, keep }: LogLevelRequest) =>
    client.putLogLevel({ body: { Level: level, Keep: keep } }),
  )
