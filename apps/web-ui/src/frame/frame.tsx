import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Ellipsis, Keyboard, MonitorCog, Moon, Search, Sun } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useMachines } from '../data/machines.tsx'
import { cx } from '../parts/class-names.ts'
import { useShortcut } from '../parts/keyboard.tsx'
import { Mark } from '../parts/mark.tsx'
import { useTheme } from '../parts/theme.ts'
import { words } from '../words/en.ts'
import css from './frame.module.css'
import { LinkState } from './link-state.tsx'
import { Notices } from './notices.tsx'
import { RailCount, RailFoot } from './rail-facts.tsx'
import { SECTIONS, type Section, sectionOf, titleOf } from './sections.ts'
import { ShortcutHelp } from './shortcut-help.tsx'

/** Shows what stands around every page: the rail (on a phone the bar below), search, link state, theme. */
export function Frame() {
  const [help, setHelp] = useState(false)
  const section = sectionOf(useLocation().pathname)
  useShortcut('?', () => setHelp(true))
  useTitle(section && titleOf(section))
  return (
    <div className={css.app}>
      <a className={css.skip} href="#main">
        Skip to the content
      </a>
      <Rail />
      <header className={css.bar}>
        <SearchField section={section} />
        <LinkState />
        <ThemeButton />
        <button
          type="button"
          className={cx(css.tool, css.wideOnly)}
          title="Keyboard (?)"
          aria-label="Show keyboard shortcuts"
          onClick={() => setHelp(true)}
        >
          <Keyboard aria-hidden="true" />
        </button>
      </header>
      <main className={css.main} id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <PhoneBar />
      <Notices />
      {SECTIONS.map(({ path, key }) => (
        <GoKey key={path} path={path} second={key} />
      ))}
      {help && <ShortcutHelp onClose={() => setHelp(false)} />}
    </div>
  )
}

function Rail() {
  return (
    <nav className={css.rail} aria-label="Sections">
      <Link to="/" className={css.brand}>
        <Mark />
        mesh
      </Link>
      {SECTIONS.map(({ path, icon: Icon, beginsGroup }) => (
        <Link
          key={path}
          to={path}
          className={cx(css.item, beginsGroup && css.group)}
          activeProps={{ className: css.on ?? '' }}
          activeOptions={{ exact: path === '/', includeSearch: false }}
        >
          <Icon aria-hidden="true" />
          {words.sections[path]}
          <RailCount path={path} />
        </Link>
      ))}
      <RailFoot />
    </nav>
  )
}

function PhoneBar() {
  const active = { className: css.on ?? '' }
  return (
    <nav className={css.phone} aria-label="Sections">
      {SECTIONS.filter(({ inBar }) => inBar).map(({ path, icon: Icon }) => (
        <Link
          key={path}
          to={path}
          activeProps={active}
          activeOptions={{ exact: path === '/', includeSearch: false }}
        >
          <Icon aria-hidden="true" />
          {words.sections[path]}
        </Link>
      ))}
      <Link to="/more" activeProps={active}>
        <Ellipsis aria-hidden="true" />
        More
      </Link>
    </nav>
  )
}

/** One field for the whole page: it filters the section that is open; on the overview it finds machines. */
function SearchField({ section }: { section: Section | undefined }) {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const location = useLocation()
  const kept = (location.search as { q?: string }).q ?? ''
  const filters: Partial<Record<Section['path'], string>> = words.filters
  const filterOf = section && filters[section.path]
  const listPath = section === undefined || filterOf === undefined ? '/machines' : section.path
  const focus = () => {
    input.current?.focus()
    input.current?.select()
  }
  useShortcut('/', focus)
  useShortcut('mod+k', focus)
  const filter = (q: string) => {
    const { q: _before, ...rest } = location.search as Record<string, string | undefined>
    const typing = listPath === section?.path
    // a letter more is no new place in the history
    void navigate({
      to: typing ? location.pathname : listPath,
      search: q === '' ? rest : { ...(typing && rest), q },
      replace: typing,
    })
  }
  const title = filterOf ?? 'Find a machine'
  return (
    <div role="search" className={css.search}>
      <Search aria-hidden="true" />
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
      <kbd className={cx(css.kbd, css.wideOnly)}>/</kbd>
    </div>
  )
}

/** Tells tabs apart: the section and the node. */
function useTitle(section: string | undefined): void {
  const { machines } = useMachines()
  const node = machines?.find(({ reach }) => reach.kind === 'self')?.name
  useEffect(() => {
    document.title = [section, node, 'mesh'].filter(Boolean).join(' · ')
  }, [section, node])
}

function ThemeButton() {
  const [theme, next] = useTheme()
  useShortcut('t', next)
  const Icon = { system: MonitorCog, light: Sun, dark: Moon }[theme]
  return (
    <button
      type="button"
      className={css.tool}
      title={`Theme: ${theme} (t)`}
      aria-label={`Theme: ${theme}. Change`}
      onClick={next}
    >
      <Icon aria-hidden="true" />
    </button>
  )
}

function GoKey({ path, second }: { path: Section['path']; second: string }) {
  const navigate = useNavigate()
  useShortcut(`g ${second}`, () => void navigate({ to: path }))
  return null
}
