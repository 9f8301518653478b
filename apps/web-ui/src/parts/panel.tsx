import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Copy } from './copy.tsx'
import { useShortcut } from './keyboard.tsx'
import { useNarrow } from './media.ts'
import css from './panel.module.css'
import { useFewRows } from './rows.tsx'

interface SidePanelProps {
  /** The list that it stands beside. */
  readonly to: '/map' | '/machines' | '/peers' | '/names' | '/services' | '/files' | '/ledger' | '/blockchain'
  /** The name of what it shows, with escapes for what is invisible of it. */
  readonly label: string
  /** The heading, where it is more than the name. */
  readonly heading?: React.ReactNode
  readonly children: React.ReactNode
}

/** The state of the list in the address. */
interface KeptSearch {
  readonly q?: string
  readonly bucket?: string
  readonly heartbeats?: 'hidden' | undefined
}

/**
 * Details beside a list, with an address of their own; a page on a phone. Escape closes it, which keeps the filter
 * of the list, its bucket and its switch.
 */
export function SidePanel({ to, label, heading = label, children }: SidePanelProps) {
  const title = useRef<HTMLHeadingElement>(null)
  const narrow = useNarrow()
  const navigate = useNavigate()
  const closed = ({ q, bucket, heartbeats }: KeptSearch) => ({
    ...(q !== undefined && { q }),
    ...(bucket !== undefined && { bucket }),
    ...(heartbeats !== undefined && { heartbeats }),
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

export type Fact = readonly [term: string, fact: React.ReactNode]

/** Terms and what they are, one below the other. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
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

/** How many addresses are shown at first; peers of the DHT may have many. */
const ADDRESSES_SHOWN = 8

/** The addresses at which a peer is known, where there are any. */
export function AddressList({ addresses }: { addresses: readonly string[] }) {
  const { drawn, more } = useFewRows(addresses, ADDRESSES_SHOWN)
  if (addresses.length === 0) return null
  return (
    <PanelSection title="Known at">
      <ul>
        {drawn.map((address) => (
          <li key={address}>
            <Copy text={address} what="address" mono wrap />
          </li>
        ))}
      </ul>
      {more}
    </PanelSection>
  )
}
