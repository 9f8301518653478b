import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { Panel } from '../../parts/panel.tsx'
import page from '../page.module.css'

/** A panel beside the names; closing it keeps the filter. */
export function NamesPanel({ label, children }: { label: string; children: React.ReactNode }) {
  const navigate = useNavigate()
  const closed = (search: { readonly q?: string }) => (search.q === undefined ? {} : { q: search.q })
  return (
    <Panel
      label={label}
      heading={label}
      close={
        <Link to="/names" search={closed} className={page.closer} aria-label="Close the panel">
          <X aria-hidden="true" />
        </Link>
      }
      onClose={() => void navigate({ to: '/names', search: closed })}
    >
      {children}
    </Panel>
  )
}
