import type { ApiClient } from '@mesh/api-client'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, use, useEffect, useMemo, useSyncExternalStore } from 'react'
import { useClock } from '../parts/time.tsx'
import { useClient } from './client-context.tsx'
import { createUploads, isUnfinished, type Upload, type Uploads } from './uploads.ts'

const UploadsContext = createContext<Uploads | undefined>(undefined)

/** Keeps the uploads of the whole page. The browser asks before it leaves the page while one is unfinished. */
export function UploadsProvider({ children }: { children: React.ReactNode }) {
  const uploads = useCreatedUploads(useClient())
  const list = useSyncExternalStore(uploads.subscribe, uploads.list)
  const isBusy = list.some(isUnfinished)
  useEffect(() => {
    if (!isBusy) return undefined
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isBusy])
  return <UploadsContext value={uploads}>{children}</UploadsContext>
}

function useCreatedUploads(client: ApiClient): Uploads {
  const clock = useClock()
  const queryClient = useQueryClient()
  const uploads = useMemo(() => {
    const onOffered = () => void queryClient.invalidateQueries({ queryKey: ['listNodeFiles'] })
    return createUploads({ client, clock, onOffered })
  }, [client, clock, queryClient])
  useEffect(() => uploads.stop, [uploads])
  return uploads
}

export function useUploads(): Uploads {
  const uploads = use(UploadsContext)
  if (uploads === undefined) throw new Error('outside of UploadsProvider')
  return uploads
}

export function useUploadList(): readonly Upload[] {
  const uploads = useUploads()
  return useSyncExternalStore(uploads.subscribe, uploads.list)
}
