import './strict-csp.ts'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import { createClient, type Fetch } from '@mesh/api-client'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { nodeUrl } from './data/node-url.ts'
import { createQueryClient } from './data/query-client.ts'
import { createSession } from './data/session.ts'
import { density, theme } from './parts/theme.ts'
import { createPageRouter } from './router.tsx'

/** A node that hangs must not keep a person waiting; longer than the node itself tries to reach a machine. */
const REQUEST_TIMEOUT_MS = 12_000

theme.apply()
density.apply()
// a browser may ask for the icon again from a deeper address of the page
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
icon?.setAttribute('href', icon.href)
const session = createSession()
/** Paths count from where the node answers. */
const plainFetch: Fetch = (path, init) => globalThis.fetch(nodeUrl + path, init)
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App
        // what failed is asked again by the page's own rules
        client={createClient({
          timeoutMs: REQUEST_TIMEOUT_MS,
          retries: 0,
          token: session.token,
          fetch: session.watch(plainFetch),
        })}
        session={session}
        fetch={plainFetch}
        queryClient={createQueryClient()}
        router={createPageRouter()}
      />
    </StrictMode>,
  )
}
