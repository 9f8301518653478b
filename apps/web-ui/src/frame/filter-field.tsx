import { useLocation, useNavigate } from '@tanstack/react-router'
import { ListFilter } from 'lucide-react'
import { useRef } from 'react'
import { cx } from '../parts/class-names.ts'
import { useShortcut } from '../parts/keyboard.tsx'
import { words } from '../words/en.ts'
import css from './filter-field.module.css'
import frame from './frame.module.css'
import { sectionOf } from './sections.ts'

/** Filters the list of the section; what is typed stands in the address as `q`. */
export function FilterField() {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const { q: kept = '', ...rest } = search as Readonly<Record<string, string | undefined>>
  useShortcut('/', () => {
    input.current?.focus()
    input.current?.select()
  })
  // a letter more is no new place in the history
  const filter = (q: string) =>
    void navigate({ to: pathname, search: q === '' ? rest : { ...rest, q }, replace: true })
  const section = sectionOf(pathname)
  const filters: Partial<Record<string, string>> = words.filters
  const title = section === undefined ? undefined : filters[section.path]
  return (
    <div role="search" className={css.filter}>
      <ListFilter aria-hidden="true" />
      <input
        ref={input}
        type="search"
        value={kept}
        placeholder={title}
        aria-label={title}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => filter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          if (kept !== '') filter('')
          input.current?.blur()
        }}
      />
      <kbd className={cx(frame.kbd, frame.wideOnly)}>/</kbd>
    </div>
  )
}
