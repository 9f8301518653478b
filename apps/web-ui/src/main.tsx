import './strict-csp.ts'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import { createClient } from '@mesh/api-client'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { createQueryClient } from './data/query-client.ts'
import { takeToken } from './data/token.ts'
import { applyTheme } from './parts/theme.ts'
import { createPageRouter } from './router.tsx'

/** A node that hangs must not keep a person waiting; longer than the node itself tries to reach a machine. */
const REQUEST_TIMEOUT_MS = 12_000

applyTheme()
const token = takeToken()
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App
        client={createClient({ timeoutMs: REQUEST_TIMEOUT_MS, ...(token !== undefined && { token }) })}
        queryClient={createQueryClient()}
        router={createPageRouter()}
      />
    </StrictMode>,
  )
}
