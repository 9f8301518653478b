import { useNavigate } from '@tanstack/react-router'
import { nodeUrl } from '../../data/node-url.ts'
import { useMachines } from '../../data/machines.tsx'
import { useNodeConnections } from '../../data/offers-read.ts'
import { useRead } from '../../data/reads.ts'
import { offerCommands } from '../../model/commands.ts'
import { nameOf } from '../../model/machine.ts'
import { takesFreePort } from '../../model/offer-words.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { FreePortNote } from './free-port-note.tsx'
import { OfferForm, type OfferFormTexts } from './offer-form.tsx'
import css from './offers.module.css'
import { SidePanel } from '../side-panel.tsx'
import { ConnectionPanel } from './service-panels.tsx'

/** Any free port: always works, and the address that it became is shown to copy. */
const DEFAULT_LISTEN = '127.0.0.1:0'

const TEXTS: OfferFormTexts = {
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
  if (connections.offers?.some(({ Name }) => Name === given) === true) {
    return <ConnectionPanel name={given} read={connections} />
  }
  return (
    <SidePanel to="/services" label={given === '' ? 'Connect to a service' : `Connect to ${given}`}>
      {given !== '' && <Provider service={given} />}
      {remote ? (
        <PanelSection title="On the machine that shall reach it">
          <p className={css.hint}>This page was not opened on the machine of its node; type there:</p>
          <Copy
            text={offerCommands({ origin: nodeUrl, kind: 'connection', name: given }, '127.0.0.1:9000').mesh}
            what="command"
            mono
            wrap
          />
        </PanelSection>
      ) : (
        <OfferForm
          kind="connection"
          texts={TEXTS}
          given={{ name: given, place: DEFAULT_LISTEN }}
          onDone={(name) => void navigate({ to: '/services', search: { view: 'connection', name } })}
        />
      )}
    </SidePanel>
  )
}

function Provider({ service }: { service: string }) {
  const { machines } = useMachines()
  const services = useRead('listServices', {})
  const peer = services.data?.find(({ Name }) => Name === service)?.PeerID
  if (services.data === undefined) return null
  if (peer === undefined) {
    return <p className={css.hint}>No member offers it now; the connection waits until one does.</p>
  }
  return (
    <Facts
      facts={[
        [
          'Offered by',
          <span key="peer" className={css.member}>
            <Glyph id={peer} />
            {nameOf(machines ?? [], peer)}
          </span>,
        ],
      ]}
    />
  )
}
