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

applyTheme()
const token = takeToken()
const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App
        client={createClient(token === undefined ? {} : { token })}
        queryClient={createQueryClient()}
        router={createPageRouter()}
      />
    </StrictMode>,
  )
}
