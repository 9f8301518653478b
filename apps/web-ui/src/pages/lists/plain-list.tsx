import { useDeferredValue, useMemo } from 'react'
import { FilterField } from '../../frame/filter-field.tsx'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import { type Read, Unread } from '../../parts/notes.tsx'
import { type SortableColumn, useSort } from '../../parts/use-sort.ts'
import { VirtualRows } from '../../parts/virtual-rows.tsx'
import page from '../page.module.css'
import css from './lists.module.css'

interface PlainListProps<Row> {
  readonly title: string
  /** The subject in words: `the machines`. */
  readonly what: string
  readonly columns: readonly SortableColumn<Row>[]
  readonly read: Read & { readonly data: readonly Row[] | undefined }
  readonly filter: string
  /** Gives the rows that fit the filter. */
  readonly filterRows: (rows: readonly Row[], filter: string) => readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly renderCells: (row: Row) => React.ReactNode
  /** The content at the end of the heading. */
  readonly action?: React.ReactNode
  readonly isSelected?: (row: Row) => boolean
  /** Stands between the heading and the rows. */
  readonly note?: React.ReactNode
  /** The panel that is open beside the list. */
  readonly panel?: React.ReactNode
  /** The content where there are no rows. */
  readonly empty?: React.ReactNode
  /** The content where none of the rows fits. */
  readonly nothingFits: React.ReactNode
  readonly rowClass?: string | undefined
  /** New rows come above the others all the time: what somebody looks at stays where it is. */
  readonly isLive?: boolean
}

/** A list of rows under a heading, with room for a panel at its side. */
export function PlainList<Row>(props: PlainListProps<Row>) {
  const { title, what, read, filter, filterRows, keyOf, renderCells, empty, nothingFits } = props
  const { action, note, rowClass = css.row, isSelected = () => false, panel, isLive = false } = props
  const { columns, sort } = useSort(props.columns)
  const rows = read.data
  const wanted = useDeferredValue(filter)
  const shown = useMemo(() => filterRows(rows ?? [], wanted), [rows, wanted, filterRows])
  return (
    <div className={cx(page.split, Boolean(panel) && page.open)}>
      <section className={page.list} aria-label={title}>
        <header className={page.head}>
          <h1>{title}</h1>
          {rows !== undefined && (
            <span className={page.sub}>
              {shown.length === rows.length ? '' : `${countInWords(shown.length)} of `}
              {countInWords(rows.length)}
            </span>
          )}
          <FilterField />
          {action}
        </header>
        {note}
        <div className={page.rows}>
          <Unread what={what} read={read} />
          {rows?.length === 0 && empty}
          {rows !== undefined && rows.length > 0 && shown.length === 0 && nothingFits}
          {shown.length > 0 && (
            <VirtualRows
              label={title}
              columns={columns}
              rowClass={rowClass}
              rows={sort(shown)}
              rowKey={keyOf}
              isSelected={isSelected}
              isLive={isLive}
              renderCells={renderCells}
            />
          )}
        </div>
      </section>
      {panel}
    </div>
  )
}
