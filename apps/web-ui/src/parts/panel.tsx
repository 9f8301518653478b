import { useEffect, useRef } from 'react'
import { useShortcut } from './keyboard.tsx'
import { useNarrow } from './media.ts'
import css from './panel.module.css'

interface PanelProps {
  readonly label: string
  /** The heading: a name with its glyph, a key. */
  readonly heading: React.ReactNode
  /** A link that closes the panel, with its content. */
  readonly close: React.ReactNode
  readonly onClose: () => void
  readonly children: React.ReactNode
}

/** Details beside a list, with an address of their own; a page on a phone. Escape closes it. */
export function Panel({ label, heading, close, onClose, children }: PanelProps) {
  const title = useRef<HTMLHeadingElement>(null)
  const narrow = useNarrow()
  useShortcut('Escape', onClose)
  useEffect(() => {
    if (narrow) title.current?.focus()
  }, [narrow, label])
  return (
    <aside className={css.panel} aria-label={label}>
      <header className={css.head}>
        <h2 ref={title} tabIndex={-1} className={css.title}>
          {heading}
        </h2>
        {close}
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
