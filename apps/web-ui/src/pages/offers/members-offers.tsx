import { Link } from '@tanstack/react-router'
import type { FileView, ServiceView } from '@mesh/api-contract'
import { useMachines, useNames } from '../../data/machines.tsx'
import { useNodeConnections } from '../../data/offers-read.ts'
import { useRead } from '../../data/reads.ts'
import { receiveCommand } from '../../model/commands.ts'
import { machineOf } from '../../model/machine.ts'
import { countInWords } from '../../model/rate-words.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Unread } from '../../parts/notes.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Cell, type Column, rowLink } from '../../parts/table.tsx'
import page from '../page.module.css'
import css from './offers.module.css'
import { countOf, filterByName, NothingFits } from './offers-section.tsx'
import { OpenLink } from './open-link.tsx'
import { Receive } from './receive.tsx'

const COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'Offered by' },
  { title: 'Reached' },
  { title: 'Use it' },
]

interface MembersOffersProps {
  readonly kind: 'services' | 'files'
  readonly filter: string
  /** The page was not opened on the machine of the node: it cannot show above what the node offers itself. */
  readonly remote: boolean
  readonly openName?: string | undefined
}

/** Shows what members announced in the ledger. */
export function MembersOffers({ kind, filter, remote, openName }: MembersOffersProps) {
  const services = useRead('listServices', {}, { enabled: kind === 'services' })
  const files = useRead('listFiles', {}, { enabled: kind === 'files' })
  const summary = useRead('getSummary', {})
  const read = kind === 'services' ? services : files
  const self = summary.data?.NodeID
  const offers = toldOnce(read.data)?.filter(({ PeerID }) => remote || PeerID !== self)
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
          renderCells={(offer) => <MemberCells kind={kind} offer={offer} remote={remote} />}
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

interface MemberCellsProps extends Pick<MembersOffersProps, 'kind' | 'remote'> {
  readonly offer: ServiceView | FileView
}

function MemberCells({ kind, offer, remote }: MemberCellsProps) {
  const nameOf = useNames()
  const { machines = [] } = useMachines()
  const machine = machineOf(machines, offer.PeerID)
  const { Name: name, PeerID: peer } = offer
  const further = 'Providers' in offer ? (offer.Providers?.length ?? 0) : 0
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
          <Link
            to="/files"
            search={(search) => ({ ...search, view: 'look' as const, name })}
            className={rowLink}
          >
            {shownName(name)}
          </Link>
        )}
      </Cell>
      <Cell className={css.member}>
        <Glyph id={peer} />
        <span className={css.memberName}>
          {nameOf(peer)}
          {further > 0 && ` and ${countInWords(further)} more`}
        </span>
      </Cell>
      <Cell className={css.wide}>{machine !== undefined && <ReachMark machine={machine} />}</Cell>
      <Cell className={css.use}>
        {kind === 'services' ? (
          <ConnectWord name={name} />
        ) : (
          <>
            {!remote && <Receive name={name} />}
            <Copy text={receiveCommand(name)} what="command" mono />
          </>
        )}
      </Cell>
    </>
  )
}

/** The row itself is the link; what is connected already opens with its address. */
function ConnectWord({ name }: { name: string }) {
  const { data } = useNodeConnections()
  const connection = data?.find(({ Name }) => Name === name)
  if (connection === undefined) return <span className={page.link}>Connect</span>
  return (
    <>
      <span>Connected here</span>
      <OpenLink name={shownName(name)} listen={connection.Listen} />
    </>
  )
}
