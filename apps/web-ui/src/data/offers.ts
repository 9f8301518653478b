/**
 * Reads what this node offers and connects to. The node serves it only to its own machine, and only once it
 * has joined its network: both are states of the page and no errors.
 */
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

export interface OfferRequest {
  readonly name: string
  /** The target of a service, where a connection listens, or the path of a file. */
  readonly place: string
}

/** Offers, connects or shares under a name; what had the name before is replaced. */
export function usePutOffer(kind: OfferKind): UseMutationResult<object, Error, OfferRequest> {
  const client = useClient()
  const queryClient = useQueryClient()
  const refresh = useRefresh(kind)
  return useMutation<object, Error, OfferRequest>({
    mutationFn: ({ name, place }) => {
      switch (kind) {
        case 'service':
          return client.putNodeService({ name, body: { Target: place } })
        case 'connection':
          return client.putNodeConnection({ name, body: { Listen: place } })
        case 'file':
          return client.putNodeFile({ name, body: { Path: place } })
      }
    },
    onSuccess: async (_answer, { name, place }) => {
      if (kind === 'connection') {
        queryClient.setQueryData<readonly string[]>(FREE_PORTS, (known = []) => [
          ...known.filter((each) => each !== name),
          ...(takesFreePort(place) ? [name] : []),
        ])
      }
      await refresh()
    },
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
export function useRemoveOffer(kind: OfferKind): UseMutationResult<object, Error, string> {
  const client = useClient()
  const refresh = useRefresh(kind)
  return useMutation<object, Error, string>({
    mutationFn: (name) => {
      switch (kind) {
        case 'service':
          return client.deleteNodeService({ name })
        case 'connection':
          return client.deleteNodeConnection({ name })
        case 'file':
          return client.deleteNodeFile({ name })
      }
    },
    onSuccess: refresh,
  })
}

/** Ends a download and forgets it; what has come stays on the disk. */
export function useEndDownload(): UseMutationResult<object, Error, string> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation<object, Error, string>({
    mutationFn: (name) => client.deleteNodeDownload({ name }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['listNodeDownloads'] }),
  })
}

const LISTS = {
  service: 'listNodeServices',
  connection: 'listNodeConnections',
  file: 'listNodeFiles',
} as const

function useRefresh(kind: OfferKind): () => Promise<void> {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: [LISTS[kind]] })
}
