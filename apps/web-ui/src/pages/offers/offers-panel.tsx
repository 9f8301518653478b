import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { Panel } from '../../parts/panel.tsx'
import page from '../page.module.css'

interface OffersPanelProps {
  readonly to: '/services' | '/files'
  readonly label: string
  readonly children: React.ReactNode
}

/** A panel beside the lists; closing it keeps the filter. */
export function OffersPanel({ to, label, children }: OffersPanelProps) {
  const navigate = useNavigate()
  const closed = (search: { readonly q?: string }) => (search.q === undefined ? {} : { q: search.q })
  return (
    <Panel
      label={label}
      heading={label}
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
