/**
 * Reading the node: each route of the contract that answers JSON is a query whose key is the route's id and input.
 * Nothing is fetched elsewhere in the page.
 */
import type { ApiClient, CallOptions } from '@mesh/api-client'
import type {
  AdmissionView,
  GuestView,
  RouteId,
  RouteInput,
  RouteOutput,
  RulesView,
  Routes,
  VpnView,
} from '@mesh/api-contract'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useLive } from '../live/live-context.tsx'
import { useClient } from './client-context.tsx'

/** Routes that read and answer with JSON. */
export type ReadId = {
  [Id in RouteId]: Routes[Id] extends { readonly method: 'GET'; readonly answer: { readonly kind: 'json' } }
    ? Id
    : never
}[RouteId]

type Input<Id extends ReadId> = RouteInput<Routes[Id]>
type Output<Id extends ReadId> = RouteOutput<Routes[Id]>

interface ReadOptions<Output> {
  /**
   * The time in ms after which it is read again, for figures that no event tells and while somebody looks;
   * false for not now. `error` is why the last read failed.
   */
  readonly everyMs?: number | ((known: Output | undefined, error: Error | null) => number | false)
  /** False while it is not to be read yet. */
  readonly enabled?: boolean
}

/** Asks once, and again when an event says that it changed; keeps the last answer when the node is away. */
export function useRead<Id extends ReadId>(
  id: Id,
  input: Input<Id>,
  { everyMs, enabled = true }: ReadOptions<Output<Id>> = {},
): UseQueryResult<Output<Id>> {
  const client = useClient()
  const { ready } = useLive()
  return useQuery<Output<Id>>({
    queryKey: [id, input],
    queryFn: async ({ signal }) => {
      await ready
      return callOf(client, id)(input, { signal })
    },
    refetchInterval: ({ state }) =>
      (typeof everyMs === 'function' ? everyMs(state.data, state.error) : everyMs) ?? false,
    enabled,
    // copies of answers would lose the key `__proto__`, and cost more than drawing 30 rows
    structuralSharing: id !== 'getLedger' && id !== 'getEntry',
  })
}

/** The method of a route. The client's table and this type come from the same contract; TypeScript cannot see it. */
export function callOf<Id extends ReadId>(
  client: ApiClient,
  id: Id,
): (input: Input<Id>, options: CallOptions) => Promise<Output<Id>> {
  return client[id] as unknown as (input: Input<Id>, options: CallOptions) => Promise<Output<Id>>
}

/** Who waits to be let in, and the gate that somebody else switches, come with no event. */
const ADMISSION_EVERY_MS = 5_000

export function useAdmission(): UseQueryResult<AdmissionView> {
  return useRead('getAdmission', {}, { everyMs: ADMISSION_EVERY_MS })
}

/** Refusals come with no event. */
const RULES_EVERY_MS = 5_000

export function useRules(): UseQueryResult<RulesView> {
  return useRead('getRules', {}, { everyMs: RULES_EVERY_MS })
}

/** Handshakes, counters and the state of the exit come with no event. */
const VPN_EVERY_MS = 3_000
/** A node without a VPN has none of it, and will not get one while it runs. */
const whileItAnswers = (_known: unknown, error: Error | null) => (error === null ? VPN_EVERY_MS : false)

export function useGuests(): UseQueryResult<readonly GuestView[]> {
  return useRead('listGuests', {}, { everyMs: whileItAnswers })
}

/** The VPN of this node, with its exit and who offers one. */
export function useExit(): UseQueryResult<VpnView> {
  return useRead('getVpn', {}, { everyMs: whileItAnswers })
}
