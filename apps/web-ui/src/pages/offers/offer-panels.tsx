import { useNavigate } from '@tanstack/react-router'
import { useNodeConnections } from '../../data/offers-read.ts'
import { useRead } from '../../data/reads.ts'
import { takesFreePort } from '../../model/offer-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Command } from '../../parts/copy.tsx'
import { Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { OfferForm, type OfferFormTexts } from './offer-form.tsx'
import css from './offers.module.css'
import { connectCommand, ConnectionPanel, FreePortNote, Member } from './own-panels.tsx'

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

/** Any free port: always works, and the address that it became is shown to copy. */
const DEFAULT_LISTEN = '127.0.0.1:0'

const CONNECTION_TEXTS: OfferFormTexts = {
  place: 'Listen address',
  nameHint: 'As its provider calls it.',
  placeHint: (
    <>
      Where programs of this machine reach it, like <code>127.0.0.1:9000</code>; <code>udp:</code> or{' '}
      <code>unix:</code> go before other kinds.
    </>
  ),
  submit: 'Connect',
  submitting: 'Connecting',
  example: { name: 'web', place: '127.0.0.1:9000' },
  remark: (place) => takesFreePort(place) && <FreePortNote listen={place} />,
}

/** A service of a member becomes an address of this machine; what is connected already shows its address. */
export function ConnectPanel({ given, remote }: { given: string; remote: boolean }) {
  const navigate = useNavigate()
  const connections = useNodeConnections()
  if (connections.data?.some(({ Name }) => Name === given) === true) {
    return <ConnectionPanel name={given} read={connections} />
  }
  const label = given === '' ? 'Connect to a service' : `Connect to ${given}`
  return (
    <SidePanel to="/services" label={shownName(label)}>
      {given !== '' && <Provider service={given} />}
      {remote ? (
        <PanelSection title="On the machine that shall reach it">
          <p className={css.hint}>This page was not opened on the machine of its node; type there:</p>
          <Command text={connectCommand(given)} />
        </PanelSection>
      ) : (
        <OfferForm
          kind="connection"
          texts={CONNECTION_TEXTS}
          given={{ name: given, place: DEFAULT_LISTEN }}
          onDone={(name) => void navigate({ to: '/services', search: { view: 'connection', name } })}
        />
      )}
    </SidePanel>
  )
}

function Provider({ service }: { service: string }) {
  const services = useRead('listServices', {})
  const peer = services.data?.find(({ Name }) => Name === service)?.PeerID
  if (services.data === undefined) return null
  if (peer !== undefined) return <Facts facts={[['Offered by', <Member key="peer" id={peer} />]]} />
  return <p className={css.hint}>No member offers it now; the connection waits until one does.</p>
}
