import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useShortcut } from './keyboard.tsx'
import { useNarrow } from './media.ts'
import css from './panel.module.css'

interface SidePanelProps {
  /** The list that it stands beside. */
  readonly to: '/map' | '/machines' | '/names' | '/services' | '/files' | '/ledger'
  /** The name of what it shows, with escapes for what is invisible of it. */
  readonly label: string
  /** The heading, where it is more than the name. */
  readonly heading?: React.ReactNode
  readonly children: React.ReactNode
}

/**
 * Details beside a list, with an address of their own; a page on a phone. Escape closes it, which keeps the filter
 * of the list and its bucket.
 */
export function SidePanel({ to, label, heading = label, children }: SidePanelProps) {
  const title = useRef<HTMLHeadingElement>(null)
  const narrow = useNarrow()
  const navigate = useNavigate()
  const closed = ({ q, bucket }: { readonly q?: string; readonly bucket?: string }) => ({
    ...(q !== undefined && { q }),
    ...(bucket !== undefined && { bucket }),
  })
  useShortcut('Escape', () => void navigate({ to, search: closed }))
  useEffect(() => {
    if (narrow) title.current?.focus()
  }, [narrow, label])
  return (
    <aside className={css.panel} aria-label={label}>
      <header className={css.head}>
        <h2 ref={title} tabIndex={-1} className={css.title}>
          {heading}
        </h2>
        <Link to={to} search={closed} className={css.closer} aria-label="Close the panel">
          <X aria-hidden="true" />
        </Link>
      </header>
      <div className={css.body}>{children}</div>
    </aside>
  )
}

/** A part of a panel under a small heading. */
export function PanelSection({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={css.section}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** Terms and what they are, one below the other. */
export function Facts({ facts }: { facts: readonly (readonly [term: string, fact: React.ReactNode])[] }) {
  return (
    <dl className={css.facts}>
      {facts.map(([term, fact]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  )
}
