import { Link, useSearch } from '@tanstack/react-router'
import type { FileView, ServiceView } from '@mesh/api-contract'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { nameOf } from '../../model/machine.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { Cell, rowLink } from '../../parts/virtual-rows.tsx'
import css from './lists.module.css'
import { PlainList } from './plain-list.tsx'

const COLUMNS = [{ title: 'Name' }, { title: 'Offered by' }]
const nameOfOffer = ({ Name }: ServiceView | FileView) => Name
const keyOfOffer = ({ Name, PeerID }: ServiceView | FileView) => JSON.stringify([Name, PeerID])

/** What members offer on the network. */
export function ServicesPage() {
  const { q = '' } = useSearch({ from: '/services' })
  const read = useRead('listServices', {})
  return (
    <PlainList
      title="Services"
      columns={COLUMNS}
      rows={read.data}
      error={read.error}
      retry={() => void read.refetch()}
      filter={q}
      textOf={nameOfOffer}
      keyOf={keyOfOffer}
      renderCells={(offer) => <OfferCells bucket="services" offer={offer} />}
      empty={
        <EmptyNote title="No services yet">
          <p>A member that exposes a port of its own, or of its network, announces it here under a name.</p>
        </EmptyNote>
      }
    />
  )
}

/** Files that members share. */
export function FilesPage() {
  const { q = '' } = useSearch({ from: '/files' })
  const read = useRead('listFiles', {})
  return (
    <PlainList
      title="Files"
      columns={COLUMNS}
      rows={read.data}
      error={read.error}
      retry={() => void read.refetch()}
      filter={q}
      textOf={nameOfOffer}
      keyOf={keyOfOffer}
      renderCells={(offer) => <OfferCells bucket="files" offer={offer} />}
      empty={
        <EmptyNote title="No files yet">
          <p>A member that shares a file announces it here; the file itself never enters the ledger.</p>
        </EmptyNote>
      }
    />
  )
}

function OfferCells({ bucket, offer }: { bucket: 'services' | 'files'; offer: ServiceView | FileView }) {
  const { machines } = useMachines()
  return (
    <>
      <Cell className={css.name}>
        <Link to="/ledger" search={{ bucket, key: offer.Name }} className={rowLink}>
          {offer.Name}
        </Link>
      </Cell>
      <Cell className={css.offeredBy}>
        <Glyph id={offer.PeerID} />
        {nameOf(machines ?? [], offer.PeerID)}
      </Cell>
    </>
  )
}
