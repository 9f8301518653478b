import type { ApiClient } from '@mesh/api-client'
import { type Clock, systemClock } from '@mesh/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { ClientProvider } from './data/client-context.tsx'
import { MachinesProvider } from './data/machines.tsx'
import { createLive } from './live/live.ts'
import { LiveProvider } from './live/live-context.tsx'
import { runWhileSeen } from './live/run-while-seen.ts'
import { KeyboardProvider } from './parts/keyboard.tsx'
import { TimeProvider } from './parts/time.tsx'
import type { PageRouter } from './router.tsx'

interface AppProps {
  readonly client: ApiClient
  readonly queryClient: QueryClient
  readonly router: PageRouter
  readonly clock?: Clock
}

/** The whole page over one client of the API. */
export function App({ client, queryClient, router, clock = systemClock }: AppProps) {
  const live = useMemo(() => createLive({ client, queryClient, clock }), [client, queryClient, clock])
  useEffect(() => runWhileSeen(live, clock), [live, clock])
  return (
    <TimeProvider clock={clock}>
      <QueryClientProvider client={queryClient}>
        <ClientProvider value={client}>
          <LiveProvider value={live}>
            <KeyboardProvider>
              <MachinesProvider>
                <RouterProvider router={router} />
              </MachinesProvider>
            </KeyboardProvider>
          </LiveProvider>
        </ClientProvider>
      </QueryClientProvider>
    </TimeProvider>
  )
}
