import { printable } from '@mesh/core'
import { cx } from './class-names.ts'
import css from './virtual-rows.module.css'

export interface Column {
  readonly title: string
  readonly align?: 'end'
  /** How the rows are sorted by it; undefined: they cannot be. */
  readonly sorted?: 'ascending' | 'descending' | 'none'
  readonly onSort?: () => void
}

/** The rows of a table and how they are shown. */
export interface TableProps<Row> {
  /** The name of what the table shows, for screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  /** The class with the grid of a row: columns on a wide page, areas on a narrow one. */
  readonly rowClass: string | undefined
  readonly rows: readonly Row[]
  rowKey(row: Row): string
  isSelected?(row: Row): boolean
  /** The cells: one `Cell` for each column, one of them with a link that opens the row. */
  renderCells(row: Row): React.ReactNode
}

type TableHeadProps = React.ComponentProps<'div'> & { readonly columns: readonly Column[] }

/** The titles of the columns. */
export function TableHead({ columns, ...props }: TableHeadProps) {
  return (
    <div role="row" {...props}>
      {columns.map(({ title, align, sorted, onSort }) => (
        <span role="columnheader" key={title} aria-sort={sorted} className={cx(align === 'end' && css.end)}>
          {onSort === undefined ? (
            title
          ) : (
            <button type="button" className={css.sort} onClick={onSort}>
              {title}
            </button>
          )}
        </span>
      ))}
    </div>
  )
}

interface CellProps {
  readonly className?: string | undefined
  readonly align?: 'end'
  /** The whole text, where it may be cut. */
  readonly title?: string
  readonly children?: React.ReactNode
}

export function Cell({ className, align, title, children }: CellProps) {
  return (
    <div
      role="cell"
      title={title === undefined ? undefined : printable(title)}
      className={cx(css.cell, align === 'end' && css.end, className)}
    >
      {typeof children === 'string' ? printable(children) : children}
    </div>
  )
}

/** The class of the link that opens its row: the whole row is its target. */
export const rowLink = css.link
