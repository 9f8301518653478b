/**
 * Writes the ledger. A write is `announcing` until the node reports its outcome. The page keeps the outcome with the key, and
 * never loses what a person typed.
 */
import { ApiError } from '@mesh/api-client'
import type { WriteView } from '@mesh/api-contract'
import { type UseMutationResult, useMutation, useMutationState, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLive } from '../live/live-context.tsx'
import { refreshKeys } from '../live/refresh-keys.ts'
import type { TrackedWrite, WriteRequest, WriteState } from '../model/tracked-write.ts'
import { useClock } from '../parts/time.tsx'
import { useClient } from './client-context.tsx'

/** How long a write may wait for its block before the page only says that it is announced. */
const WAIT = '10s'
const WRITE_KEY = 'write'

/** Puts or deletes one key. */
export function useWrite(): UseMutationResult<WriteView, Error, WriteRequest> {
  const client = useClient()
  const queryClient = useQueryClient()
  const live = useLive()
  return useMutation({
    mutationKey: [WRITE_KEY],
    mutationFn: (request: WriteRequest) => {
      const at = { bucket: request.bucket, key: request.key, wait: WAIT }
      return request.action === 'put'
        ? client.putJson({ ...at, body: request.value })
        : client.deleteEntry(at)
    },
    onSuccess: (_answer, { bucket, key, action }) => {
      // the events of the node say so too, where the page hears them
      if (live.status().state === 'live') return undefined
      return refreshKeys({ client, queryClient }, bucket, new Map([[key, action === 'delete']]))
    },
  })
}

/** The newest write of each key, newest first. */
export function useTrackedWrites(): readonly TrackedWrite[] {
  const clock = useClock()
  const states = useMutationState({
    filters: { mutationKey: [WRITE_KEY] },
    select: ({ state }) => state,
  })
  return useMemo(() => {
    const newest = new Map<string, TrackedWrite>()
    for (const { variables, data, error, submittedAt } of states) {
      const request = variables as WriteRequest | undefined
      if (request === undefined) continue
      const outcome = outcomeOf(data as WriteView | undefined, error)
      newest.set(writeId(request), { request, at: submittedAt || clock.now(), outcome })
    }
    return [...newest.values()].toSorted((a, b) => b.at - a.at)
  }, [states, clock])
}

/** The newest write of one key in this page. */
export function useTrackedWrite(bucket: string, key: string): TrackedWrite | undefined {
  const writes = useTrackedWrites()
  return writes.find(({ request }) => request.bucket === bucket && request.key === key)
}

export function outcomeOf(answer: WriteView | undefined, error: Error | null): WriteState {
  if (error !== null) {
    const refusal = error instanceof ApiError ? error : new ApiError('client.bad_answer', error.message)
    return { state: 'refused', error: refusal }
  }
  if (answer === undefined) return { state: 'announcing' }
  if (answer.State === 'Superseded') return { state: 'superseded' }
  if (answer.State === 'Announcing') return { state: 'announced' }
  return answer.Block === undefined ? { state: 'announced' } : { state: 'committed', block: answer.Block }
}

function writeId({ bucket, key }: WriteRequest): string {
  return JSON.stringify([bucket, key])
}
