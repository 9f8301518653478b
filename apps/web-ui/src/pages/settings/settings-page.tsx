import { Link, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { FilterField } from '../../frame/filter-field.tsx'
import { cx } from '../../parts/class-names.ts'
import { LoadingRows } from '../../parts/notes.tsx'
import { words } from '../../words/en.ts'
import page from '../page.module.css'
import { About } from './about.tsx'
import { InForce } from './in-force.tsx'
import { Look } from './look.tsx'
import css from './settings.module.css'

const ApiReader = lazy(async () => ({ default: (await import('./api-reader.tsx')).ApiReader }))

/** Shows the settings in force and where each came from, the look of the page, and the API to read and try. */
export function SettingsPage() {
  const { view } = useSearch({ from: '/settings' })
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>{words.sections['/settings']}</h1>
        <FilterField />
        <nav className={css.views} aria-label="Parts of the settings">
          <Link to="/settings" className={cx(css.view, view === undefined && css.on)}>
            This node
          </Link>
          <Link to="/settings" search={{ view: 'api' }} className={cx(css.view, view === 'api' && css.on)}>
            API
          </Link>
        </nav>
      </header>
      {view === 'api' ? (
        <Suspense fallback={<LoadingRows label="Reading the API document" />}>
          <ApiReader />
        </Suspense>
      ) : (
        <div className={css.columns}>
          <InForce />
          <aside className={css.side}>
            <Look />
            <About />
          </aside>
        </div>
      )}
    </div>
  )
}
