import type { CheckView } from '@mesh/api-contract'
import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useClient } from '../../data/client-context.tsx'

export type Examination = UseMutationResult<readonly CheckView[], Error, void>

/** The node examines the machine when somebody asks for it. */
export function useExamination(): Examination {
  const client = useClient()
  return useMutation({ mutationFn: () => client.runDoctor() })
}
