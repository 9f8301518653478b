import type { NodeConnectionView, NodeDownloadView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import { Link } from '@tanstack/react-router'
import { useNames } from '../../data/machines.tsx'
import type { OffersSearch } from '../../frame/search-params.ts'
import { downloadState, isUnderWay } from '../../model/download-words.ts'
import { progressInWords } from '../../model/offer-progress.ts'
import { connectionState, fileState, healthInWords, serviceState } from '../../model/offer-words.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import type { StateInWords } from '../../model/state-tone.ts'
import { cx } from '../../parts/class-names.ts'
import { Copy } from '../../parts/copy.tsx'
import { Rate } from '../../parts/rate.tsx'
import { Rows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../../parts/table.tsx'
import { useClock } from '../../parts/time.tsx'
import css from './offers.module.css'
import { OpenLink } from './open-link.tsx'

interface RowsProps<View> {
  readonly rows: readonly View[]
  readonly openName: string | undefined
}

interface OwnRowsProps<View> extends RowsProps<View> {
  readonly label: string
  readonly to: '/services' | '/files'
  readonly view: NonNullable<OffersSearch['view']>
  readonly rowClass: string | undefined
  /** The columns after name and state. */
  readonly columns: readonly Column[]
  stateOf(view: View): Pick<StateInWords, 'tone' | 'word' | 'detail'>
  renderCells(view: View): React.ReactNode
}

/** The things that this node has of one kind: name and state, and what is of that kind alone. */
function OwnRows<View extends { readonly Name: string }>(props: OwnRowsProps<View>) {
  const { openName, to, view, columns, stateOf, renderCells, ...table } = props
  return (
    <Rows
      {...table}
      columns={[{ title: 'Name' }, { title: 'State' }, ...columns]}
      rowKey={({ Name }) => Name}
      isSelected={({ Name }) => Name === openName}
      renderCells={(row) => {
        const { tone, word, detail } = stateOf(row)
        return (
          <>
            <Cell className={css.name}>
              <Link to={to} search={(search) => ({ ...search, view, name: row.Name })} className={rowLink}>
                {shownName(row.Name)}
              </Link>
            </Cell>
            <Cell>
              <StateMark tone={tone} word={word}>
                {detail}
              </StateMark>
            </Cell>
            {renderCells(row)}
          </>
        )
      }}
    />
  )
}

const TRAFFIC_COLUMNS: readonly Column[] = [
  { title: 'Open', align: 'end' },
  { title: 'In', align: 'end' },
  { title: 'Out', align: 'end' },
]

export function ServiceRows(props: RowsProps<NodeServiceView>) {
  const name = useNames()
  const clock = useClock()
  return (
    <OwnRows
      {...props}
      label="Offered by this node"
      to="/services"
      view="service"
      rowClass={css.ownRow}
      columns={[{ title: 'Target' }, ...TRAFFIC_COLUMNS]}
      stateOf={(service) => ({ detail: healthInWords(service, clock.now()), ...serviceState(service, name) })}
      renderCells={(service) => (
        <>
          <PlaceCell place={service.Target} />
          <TrafficCells traffic={service} />
        </>
      )}
    />
  )
}

export function ConnectionRows(props: RowsProps<NodeConnectionView>) {
  const name = useNames()
  return (
    <OwnRows
      {...props}
      label="Connected by this node"
      to="/services"
      view="connection"
      rowClass={css.ownRow}
      columns={[{ title: 'Reached at' }, ...TRAFFIC_COLUMNS]}
      stateOf={(connection) => {
        const state = connectionState(connection, name)
        const provider = connection.State === 'connected' ? connection.Provider : null
        return provider === null ? state : { ...state, detail: `${state.detail ?? ''} to ${name(provider)}` }
      }}
      renderCells={(connection) => (
        <>
          <Cell className={css.place}>
            <Copy text={connection.Listen} what="address" mono />
            {connection.State === 'connected' && (
              <OpenLink name={shownName(connection.Name)} listen={connection.Listen} />
            )}
          </Cell>
          <TrafficCells traffic={connection} />
        </>
      )}
    />
  )
}

export function FileRows(props: RowsProps<NodeFileView>) {
  const name = useNames()
  return (
    <OwnRows
      {...props}
      label="Offered by this node"
      to="/files"
      view="file"
      rowClass={css.fileRow}
      columns={[{ title: 'Path' }, { title: 'Receiving now' }, { title: 'Completed', align: 'end' }]}
      stateOf={(file) => fileState(file, name)}
      renderCells={(file) => (
        <>
          <PlaceCell place={file.Path} />
          <Cell className={cx(css.figure, css.wide)}>{receiversInWords(file, name)}</Cell>
          <Cell align="end" className={css.figure}>
            {countInWords(file.Completed)}
            <span className={css.narrow}> completed</span>
          </Cell>
        </>
      )}
    />
  )
}

export function DownloadRows(props: RowsProps<NodeDownloadView>) {
  const name = useNames()
  return (
    <OwnRows
      {...props}
      label="Fetched by this node"
      to="/files"
      view="download"
      rowClass={css.downloadRow}
      columns={[{ title: 'Goes to' }, { title: 'Progress' }, { title: 'Rate', align: 'end' }]}
      stateOf={(download) => {
        const state = downloadState(download, name)
        const failure = download.State === 'failed' ? download.LastError : null
        return failure === null ? state : { ...state, detail: shownText(failure) }
      }}
      renderCells={(download) => (
        <>
          <PlaceCell place={download.WrittenTo ?? download.Destination} />
          <Cell className={css.figure}>{progressOf(download)}</Cell>
          <Cell align="end" className={cx(css.figure, css.wide)}>
            {download.State === 'receiving' && <Rate bytesPerSecond={download.Rate} />}
          </Cell>
        </>
      )}
    />
  )
}

function PlaceCell({ place }: { place: string }) {
  return (
    <Cell className={css.place} title={place}>
      {place}
    </Cell>
  )
}

/** Shows the traffic; on a phone only the number of open connections stays; the panel has the rest. */
function TrafficCells({ traffic }: { traffic: NodeServiceView | NodeConnectionView }) {
  return (
    <>
      <Cell align="end" className={css.figure}>
        {countInWords(traffic.OpenConnections)}
        <span className={css.narrow}> open</span>
      </Cell>
      <Cell align="end" className={cx(css.figure, css.wide)}>
        {bytesInWords(traffic.BytesIn)}
      </Cell>
      <Cell align="end" className={cx(css.figure, css.wide)}>
        {bytesInWords(traffic.BytesOut)}
      </Cell>
    </>
  )
}

/** One by name with its progress; of several their number. */
function receiversInWords({ Receivers }: NodeFileView, name: (id: string) => string): string {
  const [first] = Receivers
  if (first === undefined) return ''
  if (Receivers.length > 1) return `${countInWords(Receivers.length)} members`
  const progress = progressInWords(first)
  return `${name(first.PeerID)} ${progress.percent === undefined ? progress.bytes : `${progress.percent} %`}`
}

/** `25 %, 2 min left` while it comes; how much it was afterwards. */
function progressOf(download: NodeDownloadView): string {
  if (!isUnderWay(download)) return download.Bytes === 0 ? '' : bytesInWords(download.Bytes)
  const { percent, bytes, left } = progressInWords(download)
  if (download.Bytes === 0 && percent === undefined) return ''
  return [percent === undefined ? bytes : `${percent} %`, left === undefined ? '' : `${left} left`]
    .filter((part) => part !== '')
    .join(', ')
}
