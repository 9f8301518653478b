import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue } from 'react'
import { useNodeConnections, useNodeServices } from '../../data/offers-read.ts'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { Copy } from '../../parts/copy.tsx'
import { useRowWalk } from '../../parts/row-walk.ts'
import page from '../page.module.css'
import { ConnectPanel } from './connect-panel.tsx'
import { MembersOffers } from './members-offers.tsx'
import { OfferPanel } from './offer-panel.tsx'
import css from './offers.module.css'
import { OffersSection } from './offers-section.tsx'
import { RemoteNote } from './remote-note.tsx'
import { ConnectionPanel, ServicePanel } from './service-panels.tsx'
import { ConnectionRows, ServiceRows } from './service-rows.tsx'

/** Shows what this node offers, what it makes reachable on its machine, and what members offer. */
export function ServicesPage() {
  const { q = '', view, name = '' } = useSearch({ from: '/services' })
  const filter = useDeferredValue(q)
  const list = useRowWalk()
  const services = useNodeServices()
  const connections = useNodeConnections()
  const remote = services.obstacle === 'remote'
  return (
    <div className={cx(page.split, view !== undefined && page.open)}>
      <section className={cx(page.list, css.scroll)} aria-label="Services" ref={list}>
        <header className={page.head}>
          <h1>Services</h1>
          {!remote && (
            <Link
              to="/services"
              search={({ q: kept }) => ({ view: 'offer' as const, ...(kept !== undefined && { q: kept }) })}
              className={cx(buttonLink, page.aside)}
            >
              <Plus aria-hidden="true" />
              Offer a service
            </Link>
          )}
        </header>
        {remote && <RemoteNote command="mesh service-add NAME HOST:PORT" />}
        <OffersSection
          title="Offered by this node"
          read={services}
          filter={filter}
          empty={
            <>
              <p>
                A web server, ssh, a database: what listens on this machine, members reach by a name. They
                need no VPN for it, and nobody else can connect.
              </p>
              <Copy text="mesh service-add web 127.0.0.1:8080" what="command" mono wrap />
            </>
          }
        >
          {(shown) => <ServiceRows services={shown} openName={view === 'service' ? name : undefined} />}
        </OffersSection>
        <OffersSection
          title="Connected by this node"
          read={connections}
          filter={filter}
          empty={
            <p>
              A service of a member becomes an address of this machine. Choose one below to connect to it, or
              connect to a name ahead of time:{' '}
              <Link to="/services" search={{ view: 'connect' }} className={page.link}>
                connect by name
              </Link>
            </p>
          }
        >
          {(shown) => (
            <ConnectionRows connections={shown} openName={view === 'connection' ? name : undefined} />
          )}
        </OffersSection>
        <MembersOffers
          kind="services"
          filter={filter}
          withOwn={remote}
          openName={view === 'connect' ? name : undefined}
        />
      </section>
      {view === 'offer' && <OfferPanel key="offer" kind="service" given={name} />}
      {view === 'connect' && <ConnectPanel key={`connect ${name}`} given={name} remote={remote} />}
      {view === 'service' && <ServicePanel key={`service ${name}`} name={name} read={services} />}
      {view === 'connection' && <ConnectionPanel key={`connection ${name}`} name={name} read={connections} />}
    </div>
  )
}
