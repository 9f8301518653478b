import type { OffersRead } from '../../data/offers-read.ts'
import { countInWords } from '../../model/rate-words.ts'
import { Unread } from '../../parts/notes.tsx'
import page from '../page.module.css'
import css from './offers.module.css'

interface OffersSectionProps<View> {
  readonly title: string
  readonly read: OffersRead<View>
  /** The content where there are none. */
  readonly empty: React.ReactNode
  readonly filter: string
  readonly children: (shown: readonly View[]) => React.ReactNode
}

/** One list of what this node has, in each of its states. */
export function OffersSection<View extends { readonly Name: string }>(props: OffersSectionProps<View>) {
  const { title, read, empty, filter, children } = props
  const { data: offers, obstacle } = read
  // the page says once, above all lists, that this node does not tell them here
  if (obstacle === 'remote') return null
  const shown = filterByName(offers ?? [], filter)
  return (
    <section className={`${page.section} ${css.section}`} aria-label={title}>
      <h2>
        {title}
        {offers !== undefined && offers.length > 0 && <span>{countOf(shown.length, offers.length)}</span>}
      </h2>
      {obstacle === 'joining' && (
        <p className={css.hint} role="status">
          The node has not joined its network yet; this list comes as soon as it has.
        </p>
      )}
      {obstacle === undefined && <Unread what={`what is ${title.toLowerCase()}`} read={read} />}
      {offers?.length === 0 && <div className={css.teach}>{empty}</div>}
      {offers !== undefined && offers.length > 0 && shown.length === 0 && <NothingFits />}
      {shown.length > 0 && children(shown)}
    </section>
  )
}

export function NothingFits() {
  return <p className={css.hint}>Nothing here fits the filter.</p>
}

/** `3`, or `1 of 3` under a filter. */
export function countOf(shown: number, all: number): string {
  return shown === all ? countInWords(all) : `${countInWords(shown)} of ${countInWords(all)}`
}

/** Those whose name has the text, in any case of letters. */
export function filterByName<View extends { readonly Name: string }>(
  views: readonly View[],
  filter: string,
): readonly View[] {
  const wanted = filter.trim().toLowerCase()
  return wanted === '' ? views : views.filter(({ Name }) => Name.toLowerCase().includes(wanted))
}
