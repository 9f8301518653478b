import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { shownName } from '../model/shown-name.ts'
import { Panel } from '../parts/panel.tsx'
import page from './page.module.css'

interface SidePanelProps {
  /** The list that it stands beside. */
  readonly to: '/names' | '/services' | '/files'
  readonly label: string
  readonly children: React.ReactNode
}

/** A panel beside a list; closing it keeps the filter. */
export function SidePanel({ to, label, children }: SidePanelProps) {
  const navigate = useNavigate()
  const closed = (search: { readonly q?: string }) => (search.q === undefined ? {} : { q: search.q })
  return (
    <Panel
      label={shownName(label)}
      heading={shownName(label)}
      close={
        <Link to={to} search={closed} className={page.closer} aria-label="Close the panel">
          <X aria-hidden="true" />
        </Link>
      }
      onClose={() => void navigate({ to, search: closed })}
    >
      {children}
    </Panel>
  )
}
