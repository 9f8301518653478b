import { useDeferredValue, useMemo } from 'react'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import { EmptyNote, ErrorNote } from '../../parts/notes.tsx'
import { LoadingRows } from '../../parts/loading-rows.tsx'
import { type Column, VirtualRows } from '../../parts/virtual-rows.tsx'
import page from '../page.module.css'
import css from './lists.module.css'

interface PlainListProps<Row> {
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[] | undefined
  readonly error: Error | null
  readonly retry: () => void
  readonly filter: string
  /** Gives the text that the filter looks at, and that tells rows apart. */
  readonly textOf: (row: Row) => string
  readonly keyOf: (row: Row) => string
  readonly renderCells: (row: Row) => React.ReactNode
  /** The content at the end of the heading. */
  readonly action?: React.ReactNode
  readonly isSelected?: (row: Row) => boolean
  /** The panel that is open beside the list. */
  readonly panel?: React.ReactNode
  /** The content where there are no rows. */
  readonly empty: React.ReactNode
}

/** A list of rows under a heading, with room for a panel at its side. */
export function PlainList<Row>(props: PlainListProps<Row>) {
  const { title, columns, rows, error, retry, filter, textOf, keyOf, renderCells, empty } = props
  const { action, isSelected = () => false, panel } = props
  const wanted = useDeferredValue(filter).trim().toLowerCase()
  const shown = useMemo(
    () => (rows ?? []).filter((row) => textOf(row).toLowerCase().includes(wanted)),
    [rows, wanted, textOf],
  )
  return (
    <div className={cx(page.split, panel !== undefined && page.open)}>
      <section className={page.list} aria-label={title}>
        <header className={page.head}>
          <h1>{title}</h1>
          {rows !== undefined && (
            <span className={page.sub}>
              {shown.length === rows.length ? '' : `${countInWords(shown.length)} of `}
              {countInWords(rows.length)}
            </span>
          )}
          {action}
        </header>
        <div className={page.rows}>
          {rows === undefined && error !== null && (
            <ErrorNote title={`${title} could not be read`} error={error} retry={retry} />
          )}
          {rows === undefined && error === null && <LoadingRows label={`Reading ${title.toLowerCase()}`} />}
          {rows?.length === 0 && empty}
          {rows !== undefined && rows.length > 0 && shown.length === 0 && (
            <EmptyNote title="Nothing fits the filter" />
          )}
          {shown.length > 0 && (
            <VirtualRows
              label={title}
              columns={columns}
              rowClass={css.row}
              rows={shown}
              rowKey={keyOf}
              isSelected={isSelected}
              renderCells={renderCells}
            />
          )}
        </div>
      </section>
      {panel}
    </div>
  )
}
