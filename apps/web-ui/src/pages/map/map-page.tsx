import { words } from '../../words/en.ts'
import page from '../page.module.css'

/** The title only: the section is not built yet. */
export function MapPage() {
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>{words.sections['/map']}</h1>
      </header>
    </div>
  )
}
