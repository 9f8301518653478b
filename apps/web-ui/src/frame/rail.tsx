import { Link } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { cx } from '../parts/class-names.ts'
import { Mark } from '../parts/mark.tsx'
import { words } from '../words/en.ts'
import css from './frame.module.css'
import { RailCount, RailFoot } from './rail-facts.tsx'
import { SECTIONS, type Section } from './sections.ts'

const ACTIVE = { className: css.on ?? '' }
const matchOf = (path: Section['path']) => ({ exact: path === '/', includeSearch: false })

/** The sections at the left of a wide page. */
export function Rail() {
  return (
    <nav className={css.rail} aria-label={words.frame.sections}>
      <Link to="/" className={css.brand}>
        <Mark />
        {words.frame.brand}
      </Link>
      {SECTIONS.map(({ path, icon: Icon, beginsGroup }) => (
        <Link
          key={path}
          to={path}
          className={cx(css.item, beginsGroup && css.group)}
          activeProps={ACTIVE}
          activeOptions={matchOf(path)}
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

/** Four sections and the way to the others, below the page on a phone. */
export function PhoneBar() {
  return (
    <nav className={css.phone} aria-label={words.frame.sections}>
      {SECTIONS.filter(({ inBar }) => inBar).map(({ path, icon: Icon }) => (
        <Link key={path} to={path} activeProps={ACTIVE} activeOptions={matchOf(path)}>
          <Icon aria-hidden="true" />
          {words.sections[path]}
        </Link>
      ))}
      <Link to="/more" activeProps={ACTIVE}>
        <Ellipsis aria-hidden="true" />
        {words.frame.more}
      </Link>
    </nav>
  )
}
