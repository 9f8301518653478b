import type { OffersRead } from '../../data/offers-read.ts'
import { EmptyNote, ErrorNote } from '../../parts/notes.tsx'
import { LoadingRows } from '../../parts/loading-rows.tsx'

interface MissingOfferProps {
  readonly read: OffersRead<unknown>
  /** Says that it is not there: `This node offers no file of this name`. */
  readonly what: string
  /** A whole sentence: how that can be. */
  readonly why?: string
}

/** The content of a panel about something that is not there: not yet, not here, or not any more. */
export function MissingOffer({ read, what, why = 'It may have been withdrawn.' }: MissingOfferProps) {
  if (read.obstacle === 'joining') return <p role="status">The node has not joined its network yet.</p>
  if (read.obstacle === 'remote') {
    return <p>This is shown only where the page is opened on the machine of the node.</p>
  }
  if (read.error !== null)
    return <ErrorNote title="It could not be read" error={read.error} retry={read.retry} />
  if (read.offers === undefined) return <LoadingRows label="Reading" />
  return (
    <EmptyNote title={what}>
      <p>{why}</p>
    </EmptyNote>
  )
}
