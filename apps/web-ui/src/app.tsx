import type { ApiClient, Fetch } from '@mesh/api-client'
import { type Clock, systemClock } from '@mesh/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { ClientProvider } from './data/client-context.tsx'
import { MachinesProvider } from './data/machines.tsx'
import { SessionProvider } from './data/session-context.tsx'
import type { Session } from './data/session.ts'
import { UploadsProvider } from './data/uploads-context.tsx'
import { TokenPage } from './frame/token-page.tsx'
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
  /** The tab's token; left out where nobody asks for one. */
  readonly session?: Session
  /** Tries a token that was typed. */
  readonly fetch?: Fetch
}

/** The whole page over one client of the API; while the node asks for a token, only the field for it. */
export function App({ session, fetch, ...inside }: AppProps) {
  const { clock = systemClock } = inside
  const isAsked = useSyncExternalStore(session?.subscribe ?? never, session?.isAsked ?? isNot)
  return (
    <TimeProvider clock={clock}>
      {isAsked && session !== undefined && fetch !== undefined ? (
        <Forgotten queryClient={inside.queryClient}>
          <TokenPage session={session} fetch={fetch} />
        </Forgotten>
      ) : (
        <SessionProvider value={session}>
          <Inside {...inside} clock={clock} />
        </SessionProvider>
      )}
    </TimeProvider>
  )
}

const never = () => () => {}
const isNot = () => false

/** Forgets what was read with another token, so that it is not shown to anyone who comes next. */
function Forgotten({ queryClient, children }: { queryClient: QueryClient; children: React.ReactNode }) {
  useEffect(() => queryClient.clear(), [queryClient])
  return children
}

type InsideProps = Omit<AppProps, 'session' | 'fetch'> & { readonly clock: Clock }

function Inside({ client, queryClient, router, clock }: InsideProps) {
  const live = useMemo(() => createLive({ client, queryClient, clock }), [client, queryClient, clock])
  useEffect(() => runWhileSeen(live, clock), [live, clock])
  return (
    <QueryClientProvider client={queryClient}>
      <ClientProvider value={client}>
        <LiveProvider value={live}>
          <KeyboardProvider>
            <MachinesProvider>
              <UploadsProvider>
                <RouterProvider router={router} />
              </UploadsProvider>
            </MachinesProvider>
          </KeyboardProvider>
        </LiveProvider>
      </ClientProvider>
    </QueryClientProvider>
  )
}
