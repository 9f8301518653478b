import { useState } from 'react'
import { countInWords } from '../model/rate-words.ts'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import css from './rows.module.css'
import type { Column } from './virtual-rows.tsx'

/** How many rows are drawn at first, and with each click on what asks for more. */
const ROWS_AT_A_TIME = 200

interface RowsProps<Row> {
  /** The name of what the table shows, for screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  /** The class with the grid of a row. */
  readonly rowClass: string | undefined
  readonly rows: readonly Row[]
  rowKey(row: Row): string
  isSelected(row: Row): boolean
  renderCells(row: Row): React.ReactNode
}

/** A table that stands among others on a page which scrolls as a whole. */
export function Rows<Row>({
  label,
  columns,
  rowClass,
  rows,
  rowKey,
  isSelected,
  renderCells,
}: RowsProps<Row>) {
  const { drawn, more } = useFewRows(rows)
  return (
    <>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <div role="row" className={cx(css.head, rowClass)}>
          {columns.map(({ title, align }) => (
            <span role="columnheader" key={title} className={cx(align === 'end' && css.end)}>
              {title}
            </span>
          ))}
        </div>
        {drawn.map((row) => (
          <div
            role="row"
            key={rowKey(row)}
            className={cx(css.row, rowClass, isSelected(row) && css.selected)}
            data-row
          >
            {renderCells(row)}
          </div>
        ))}
      </div>
      {more}
    </>
  )
}

/** Gives the rows that are drawn of a list, and what asks for more of them, where there are more. */
export function useFewRows<Row>(rows: readonly Row[], atATime = ROWS_AT_A_TIME) {
  const [count, setCount] = useState(atATime)
  const rest = rows.length - count
  const more = rest > 0 && (
    <p className={css.more}>
      <Button onClick={() => setCount(count + ROWS_AT_A_TIME)}>
        Show {countInWords(Math.min(rest, ROWS_AT_A_TIME))} more of {countInWords(rest)}
      </Button>
    </p>
  )
  return { drawn: rows.slice(0, count), more }
}
