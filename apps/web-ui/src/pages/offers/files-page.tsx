import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue } from 'react'
import { useNodeDownloads, useNodeFiles } from '../../data/offers-read.ts'
import { buttonLink } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { Copy } from '../../parts/copy.tsx'
import { useRowWalk } from '../../parts/row-walk.ts'
import page from '../page.module.css'
import { DownloadPanel } from './download-panel.tsx'
import { DownloadRows } from './download-rows.tsx'
import { FilePanel } from './file-panel.tsx'
import { FileRows } from './file-rows.tsx'
import { MembersOffers } from './members-offers.tsx'
import { OfferPanel } from './offer-panel.tsx'
import css from './offers.module.css'
import { OffersSection } from './offers-section.tsx'
import { RemoteNote } from './remote-note.tsx'

/** Files and folders that this node offers and who receives them, what it fetches, and what members offer. */
export function FilesPage() {
  const { q = '', view, name = '' } = useSearch({ from: '/files' })
  const filter = useDeferredValue(q)
  const list = useRowWalk()
  const files = useNodeFiles()
  const downloads = useNodeDownloads()
  const remote = files.obstacle === 'remote'
  return (
    <div className={cx(page.split, view !== undefined && page.open)}>
      <section className={cx(page.list, css.scroll)} aria-label="Files" ref={list}>
        <header className={page.head}>
          <h1>Files</h1>
          {!remote && (
            <Link
              to="/files"
              search={({ q: kept }) => ({ view: 'offer' as const, ...(kept !== undefined && { q: kept }) })}
              className={cx(buttonLink, page.aside)}
            >
              <Plus aria-hidden="true" />
              Offer a file or folder
            </Link>
          )}
        </header>
        {remote && <RemoteNote command="mesh file-send NAME PATH" />}
        <OffersSection
          title="Offered by this node"
          read={files}
          filter={filter}
          empty={
            <>
              <p>
                A file or folder of this machine that members fetch by a name, straight from here: the network
                learns the name, never the content.
              </p>
              <Copy text="mesh file-send photos ~/photos" what="command" mono wrap />
            </>
          }
        >
          {(shown) => <FileRows files={shown} openName={view === 'file' ? name : undefined} />}
        </OffersSection>
        {/* nothing to teach here: the command that fetches stands at each file of a member */}
        {(downloads.error !== null || (downloads.offers ?? []).length > 0) && (
          <OffersSection title="Fetched by this node" read={downloads} filter={filter} empty={null}>
            {(shown) => <DownloadRows downloads={shown} openName={view === 'download' ? name : undefined} />}
          </OffersSection>
        )}
        <MembersOffers kind="files" filter={filter} withOwn={remote} />
      </section>
      {view === 'offer' && <OfferPanel kind="file" given={name} />}
      {view === 'download' && <DownloadPanel key={`download ${name}`} name={name} read={downloads} />}
      {view === 'file' && <FilePanel key={`file ${name}`} name={name} read={files} />}
    </div>
  )
}
