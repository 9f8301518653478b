import { useNavigate } from '@tanstack/react-router'
import { OfferForm, type OfferFormTexts } from './offer-form.tsx'
import { SidePanel } from '../side-panel.tsx'

const SERVICE_TEXTS: OfferFormTexts = {
  place: 'Target',
  nameHint: 'What members call it: web, ssh, nas-backup.',
  placeHint: (
    <>
      Where it listens, seen from this machine: <code>127.0.0.1:8080</code>, <code>:8080</code>,{' '}
      <code>udp:127.0.0.1:53</code> or <code>unix:/run/app.sock</code>.
    </>
  ),
  submit: 'Offer',
  submitting: 'Announcing',
  example: { name: 'web', place: '127.0.0.1:8080' },
}

const FILE_TEXTS: OfferFormTexts = {
  place: 'Path',
  nameHint: 'What members call it: photos, report.pdf.',
  placeHint: (
    <>
      A file or folder of the machine that the node runs on, from the root: <code>/srv/photos</code>. Links
      inside a folder are left out.
    </>
  ),
  submit: 'Offer',
  submitting: 'Announcing',
  example: { name: 'photos', place: '/srv/photos' },
}

/** The form to offer a service or a file. */
export function OfferPanel({ kind, given }: { kind: 'service' | 'file'; given: string }) {
  const navigate = useNavigate()
  const to = kind === 'service' ? '/services' : '/files'
  return (
    <SidePanel to={to} label={kind === 'service' ? 'Offer a service' : 'Offer a file or folder'}>
      <OfferForm
        kind={kind}
        texts={kind === 'service' ? SERVICE_TEXTS : FILE_TEXTS}
        given={{ name: given, place: '' }}
        onDone={(name) => void navigate({ to, search: { view: kind, name } })}
      />
    </SidePanel>
  )
}
