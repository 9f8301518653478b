/** `/dev/parts` of the development server: every part in every state, light and dark side by side. */
import '../src/styles/fonts.css'
import '../src/styles/tokens.css'
import '../src/styles/base.css'
import './parts.css'
import { createMemoryHistory, RouterContextProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { KeyboardProvider } from '../src/parts/keyboard.tsx'
import { TimeProvider } from '../src/parts/time.tsx'
import { createPageRouter } from '../src/router.tsx'
import { stories } from './stories.tsx'

/** A document of its own for each theme, so that dialogs and canvases have it too. */
function Themes() {
  return (
    <div className="themes">
      {['light', 'dark'].map((theme) => (
        <iframe key={theme} title={theme} src={`/dev/parts?theme=${theme}`} />
      ))}
    </div>
  )
}

function Parts() {
  return (
    <TimeProvider>
      <KeyboardProvider>
        <RouterContextProvider router={createPageRouter(createMemoryHistory())}>
          <main className="parts">
            {Object.entries(stories).map(([name, Story]) => (
              <section key={name}>
                <h2>{name}</h2>
                <Story />
              </section>
            ))}
          </main>
        </RouterContextProvider>
      </KeyboardProvider>
    </TimeProvider>
  )
}

const theme = new URLSearchParams(location.search).get('theme')
if (theme !== null) document.documentElement.dataset['theme'] = theme
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(theme === null ? <Themes /> : <Parts />)
