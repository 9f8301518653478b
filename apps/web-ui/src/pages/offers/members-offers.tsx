import { Link } from '@tanstack/react-router'
import type { FileView, ServiceView } from '@mesh/api-contract'
import { useNames } from '../../data/machines.tsx'
import { useNodeConnections } from '../../data/offers-read.ts'
import { useRead } from '../../data/reads.ts'
import { receiveCommand } from '../../model/commands.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Unread } from '../../parts/notes.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Cell, type Column, rowLink } from '../../parts/table.tsx'
import page from '../page.module.css'
import css from './offers.module.css'
import { countOf, filterByName, NothingFits } from './offers-section.tsx'

const COLUMNS: readonly Column[] = [{ title: 'Name' }, { title: 'Offered by' }, { title: 'Use it' }]

interface MembersOffersProps {
  readonly kind: 'services' | 'files'
  readonly filter: string
  /** True to show also what this node offers itself: where the page may not show that above. */
  readonly withOwn: boolean
  readonly openName?: string | undefined
}

/** Shows what members announced in the ledger. */
export function MembersOffers({ kind, filter, withOwn, openName }: MembersOffersProps) {
  const services = useRead('listServices', {}, { enabled: kind === 'services' })
  const files = useRead('listFiles', {}, { enabled: kind === 'files' })
  const summary = useRead('getSummary', {})
  const read = kind === 'services' ? services : files
  const self = summary.data?.NodeID
  const offers = toldOnce(read.data)?.filter(({ PeerID }) => withOwn || PeerID !== self)
  const shown = filterByName(offers ?? [], filter)
  return (
    <section className={`${page.section} ${css.section}`} aria-label="Offered by members">
      <h2>
        Offered by members
        {offers !== undefined && offers.length > 0 && <span>{countOf(shown.length, offers.length)}</span>}
      </h2>
      <Unread what={`the ${kind} of members`} read={read} />
      {offers?.length === 0 && (
        <p className={css.teach}>
          {kind === 'services'
            ? 'No member offers a service now. When one does, it appears here and you can connect to it.'
            : 'No member offers a file now. When one does, it appears here with the command that fetches it.'}
        </p>
      )}
      {offers !== undefined && offers.length > 0 && shown.length === 0 && <NothingFits />}
      {shown.length > 0 && (
        <Rows
          label="Offered by members"
          columns={COLUMNS}
          rowClass={css.memberRow}
          rows={shown}
          rowKey={idOf}
          isSelected={({ Name }) => Name === openName}
          renderCells={(offer) => <MemberCells kind={kind} offer={offer} />}
        />
      )}
    </section>
  )
}

/** A member may announce one name under many keys; of rows with one key some would stay when they go. */
function toldOnce<Offer extends ServiceView | FileView>(offers: readonly Offer[] | undefined) {
  return offers && [...new Map(offers.map((offer) => [idOf(offer), offer])).values()]
}

const idOf = ({ Name, PeerID }: ServiceView | FileView) => JSON.stringify([Name, PeerID])

function MemberCells({ kind, offer }: { kind: 'services' | 'files'; offer: ServiceView | FileView }) {
  const nameOf = useNames()
  const { Name: name, PeerID: peer } = offer
  return (
    <>
      <Cell className={css.name}>
        {kind === 'services' ? (
          <Link
            to="/services"
            search={(search) => ({ ...search, view: 'connect' as const, name })}
            className={rowLink}
          >
            {shownName(name)}
          </Link>
        ) : (
          <Link to="/ledger" search={{ bucket: 'files', key: name }} className={rowLink}>
            {shownName(name)}
          </Link>
        )}
      </Cell>
      <Cell className={css.member}>
        <Glyph id={peer} />
        <span className={css.memberName}>{nameOf(peer)}</span>
      </Cell>
      <Cell className={css.use}>
        {kind === 'services' ? (
          <ConnectWord name={name} />
        ) : (
          <Copy text={receiveCommand(name)} what="command" mono />
        )}
      </Cell>
    </>
  )
}

/** The row itself is the link; what is connected already opens with its address. */
function ConnectWord({ name }: { name: string }) {
  const { data } = useNodeConnections()
  const isConnected = data?.some(({ Name }) => Name === name) === true
  return isConnected ? 'Connected here' : <span className={page.link}>Connect</span>
}
