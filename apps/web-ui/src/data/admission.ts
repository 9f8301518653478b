import type { AdmissionView } from '@mesh/api-contract'
import { type UseQueryResult } from '@tanstack/react-query'
import { useRead } from './reads.ts'

/** Who waits to be let in, and the gate that somebody else switches, come with no event. */
const ADMISSION_EVERY_MS = 5_000

export function useAdmission(): UseQueryResult<AdmissionView> {
  return useRead('getAdmission', {}, { everyMs: ADMISSION_EVERY_MS })
}

/** Has this node anything to decide: a peer gate, or administrators? Undefined until it is known. */
export function useHasAccess(): boolean | undefined {
  const { data } = useAdmission()
  return data === undefined ? undefined : data.Peerguard || data.Administrators.length > 0
}
