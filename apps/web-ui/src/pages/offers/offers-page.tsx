import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue } from 'react'
import {
  useNodeConnections,
  useNodeDownloads,
  useNodeFiles,
  useNodeServices,
} from '../../data/offers-read.ts'
import { FilterField } from '../../frame/filter-field.tsx'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { Command } from '../../parts/copy.tsx'
import { useRowWalk } from '../../parts/rows.tsx'
import page from '../page.module.css'
import { EmptyPicture } from '../../parts/empty-picture.tsx'
import { DropZone } from './drop-zone.tsx'
import { LookPanel } from './look-panel.tsx'
import { MembersOffers } from './members-offers.tsx'
import { ConnectPanel, OfferPanel } from './offer-panels.tsx'
import css from './offers.module.css'
import { OffersSection } from './offers-section.tsx'
import { ConnectionPanel, DownloadPanel, FilePanel, ServicePanel } from './own-panels.tsx'
import { UploadList } from './upload-list.tsx'
import { ConnectionRows, DownloadRows, FileRows, ServiceRows } from './own-rows.tsx'

interface OffersPageProps {
  readonly title: 'Services' | 'Files'
  /** The words on the link that opens the form. */
  readonly offer: string
  /** The page was not opened on the machine of the node. */
  readonly remote: boolean
  /** The command that offers one, for there. */
  readonly command: string
  readonly children: React.ReactNode
  readonly panel: React.ReactNode
}

function OffersPage({ title, offer, remote, command, children, panel }: OffersPageProps) {
  const { view } = useSearch({ strict: false })
  const list = useRowWalk()
  return (
    <div className={cx(page.split, view !== undefined && page.open)}>
      <section className={cx(page.list, css.scroll)} aria-label={title} ref={list}>
        <header className={page.head}>
          <h1>{title}</h1>
          <FilterField />
          {!remote && (
            <Link
              to={title === 'Services' ? '/services' : '/files'}
              search={({ q }) => ({ view: 'offer' as const, ...(q !== undefined && { q }) })}
              className={cx(buttonLink, page.aside)}
            >
              <Plus aria-hidden="true" />
              {offer}
            </Link>
          )}
        </header>
        {remote && (
          <p className={css.note}>
            What this node offers is changed on its own machine; type there: <Command text={command} />
          </p>
        )}
        {children}
      </section>
      {panel}
    </div>
  )
}

/** Shows what this node offers, what it makes reachable on its machine, and what members offer. */
export function ServicesPage() {
  const { q = '', view, name = '' } = useSearch({ from: '/services' })
  const filter = useDeferredValue(q)
  const services = useNodeServices()
  const connections = useNodeConnections()
  const remote = services.obstacle === 'remote'
  return (
    <OffersPage
      title="Services"
      offer="Offer a service"
      remote={remote}
      command="mesh service-add NAME HOST:PORT"
      panel={
        <>
          {view === 'offer' && <OfferPanel key="offer" kind="service" given={name} />}
          {view === 'connect' && <ConnectPanel key={`connect ${name}`} given={name} remote={remote} />}
          {view === 'service' && <ServicePanel key={`service ${name}`} name={name} read={services} />}
          {view === 'connection' && (
            <ConnectionPanel key={`connection ${name}`} name={name} read={connections} />
          )}
        </>
      }
    >
      <OffersSection
        title="Offered by this node"
        read={services}
        filter={filter}
        empty={
          <>
            <EmptyPicture of="services" />
            <p>
              A web server, ssh, a database: what listens on this machine, members reach by a name. They need
              no VPN for it, and nobody else can connect.
            </p>
            <Command text="mesh service-add web 127.0.0.1:8080" />
          </>
        }
      >
        {(shown) => <ServiceRows rows={shown} openName={view === 'service' ? name : undefined} />}
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
        {(shown) => <ConnectionRows rows={shown} openName={view === 'connection' ? name : undefined} />}
      </OffersSection>
      <MembersOffers
        kind="services"
        filter={filter}
        remote={remote}
        openName={view === 'connect' ? name : undefined}
      />
    </OffersPage>
  )
}

/** Files and folders that this node offers and who receives them, what it fetches, and what members offer. */
export function FilesPage() {
  const { q = '', view, name = '' } = useSearch({ from: '/files' })
  const filter = useDeferredValue(q)
  const files = useNodeFiles()
  const downloads = useNodeDownloads()
  const remote = files.obstacle === 'remote'
  return (
    <OffersPage
      title="Files"
      offer="Offer a file or folder"
      remote={remote}
      command="mesh file-send NAME PATH"
      panel={
        <>
          {view === 'offer' && <OfferPanel kind="file" given={name} />}
          {view === 'download' && <DownloadPanel key={`download ${name}`} name={name} read={downloads} />}
          {view === 'look' && <LookPanel key={`look ${name}`} name={name} remote={remote} />}
          {view === 'file' && <FilePanel key={`file ${name}`} name={name} read={files} />}
        </>
      }
    >
      {files.data !== undefined && <DropZone />}
      <UploadList />
      <OffersSection
        title="Offered by this node"
        read={files}
        filter={filter}
        empty={
          <>
            <EmptyPicture of="files" />
            <p>
              A file or folder of this machine that members fetch by a name, straight from here: the network
              learns the name, never the content.
            </p>
            <Command text="mesh file-send photos ~/photos" />
          </>
        }
      >
        {(shown) => <FileRows rows={shown} openName={view === 'file' ? name : undefined} />}
      </OffersSection>
      {/* nothing to teach here: the command that fetches stands at each file of a member */}
      {(downloads.error !== null || (downloads.data ?? []).length > 0) && (
        <OffersSection title="Fetched by this node" read={downloads} filter={filter} empty={null}>
          {(shown) => <DownloadRows rows={shown} openName={view === 'download' ? name : undefined} />}
        </OffersSection>
      )}
      <MembersOffers
        kind="files"
        filter={filter}
        remote={remote}
        openName={view === 'look' ? name : undefined}
      />
    </OffersPage>
  )
}
