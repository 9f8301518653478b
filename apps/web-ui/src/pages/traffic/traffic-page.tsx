import { words } from '../../words/en.ts'
import page from '../page.module.css'

/** The title only: the section is not built yet. */
export function TrafficPage() {
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>{words.sections['/traffic']}</h1>
      </header>
    </div>
  )
}
