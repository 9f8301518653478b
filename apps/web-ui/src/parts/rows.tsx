import { useRef, useState } from 'react'
import { countInWords } from '../model/rate-words.ts'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import { useShortcut } from './keyboard.tsx'
import css from './rows.module.css'
import { TableHead, type TableProps } from './table.tsx'

/** How many rows are drawn at first, and with each click on what asks for more. */
const ROWS_AT_A_TIME = 200

/** A table that stands among others on a page which scrolls as a whole. */
export function Rows<Row>(props: TableProps<Row>) {
  const { label, columns, rowClass, rows, rowKey, isSelected, renderCells } = props
  const { drawn, more } = useFewRows(rows)
  return (
    <>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} className={cx(css.head, rowClass)} />
        {drawn.map((row) => (
          <div
            role="row"
            key={rowKey(row)}
            className={cx(css.row, rowClass, isSelected?.(row) === true && css.selected)}
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

/** `j` and `k` walk along the links of all rows inside of the element. */
export function useRowWalk(): React.RefObject<HTMLElement | null> {
  const container = useRef<HTMLElement>(null)
  const move = (step: 1 | -1) => {
    const links = [...(container.current?.querySelectorAll<HTMLElement>('[data-row] a') ?? [])]
    const focused = links.findIndex((link) => link === document.activeElement)
    const from = focused < 0 && step === -1 ? links.length : focused
    links[Math.min(links.length - 1, Math.max(0, from + step))]?.focus()
  }
  useShortcut('j', () => move(1))
  useShortcut('k', () => move(-1))
  return container
}
