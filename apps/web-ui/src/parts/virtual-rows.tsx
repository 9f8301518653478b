import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { printable } from '@mesh/core'
import { cx } from './class-names.ts'
import { useShortcut } from './keyboard.tsx'
import { useNarrow } from './media.ts'
import css from './virtual-rows.module.css'

/** Pixels; must be tall enough for one line and for two. */
const ROW_PX = 36
const ROW_NARROW_PX = 60
const OVERSCAN_ROWS = 8
/** Before the list is laid out (and in jsdom, which has no layout) this much of it is drawn. */
const INITIAL_RECT = { width: 1024, height: 800 }

export interface Column {
  readonly title: string
  readonly align?: 'end'
}

interface VirtualRowsProps<Row> {
  /** The name of what the table shows, for screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  /** The class with the grid of a row: columns on a wide page, areas on a narrow one. */
  readonly rowClass: string | undefined
  readonly rows: readonly Row[]
  rowKey(row: Row): string
  isSelected(row: Row): boolean
  /** The cells: one `Cell` for each column, one of them with a link that opens the row. */
  renderCells(row: Row): React.ReactNode
}

/** A table of any length that draws only what is seen; `j` and `k` walk along the rows' links. */
export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { label, columns, rowClass, rows, rowKey, isSelected, renderCells } = props
  const scroller = useRef<HTMLDivElement>(null)
  const narrow = useNarrow()
  const rowPx = narrow ? ROW_NARROW_PX : ROW_PX
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    initialRect: INITIAL_RECT,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : rowKey(row)
    },
  })
  useEffect(() => virtualizer.measure(), [virtualizer, rowPx])
  useRowKeys(scroller, rows.length, (index) => virtualizer.scrollToIndex(index))
  return (
    <div className={css.scroller} ref={scroller}>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <div role="row" aria-rowindex={1} className={cx(css.head, rowClass)}>
          {columns.map(({ title, align }) => (
            <span role="columnheader" key={title} className={cx(align === 'end' && css.end)}>
              {title}
            </span>
          ))}
        </div>
        <div role="rowgroup" className={css.body} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            return (
              <div
                role="row"
                key={key}
                data-index={index}
                aria-rowindex={index + 2}
                className={cx(css.row, rowClass, isSelected(row) && css.selected)}
                style={{ transform: `translateY(${start}px)`, height: rowPx }}
              >
                {renderCells(row)}
              </div>
            )
          })}
        </div>
      </div>
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

/** `j` and `k` focus the next and previous row's link; a row that is not drawn yet is scrolled to first. */
function useRowKeys(
  scroller: React.RefObject<HTMLDivElement | null>,
  count: number,
  scrollTo: (index: number) => void,
): void {
  const link = (index: number) =>
    scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] .${css.link}`) ?? undefined
  const move = (step: 1 | -1) => {
    if (count === 0) return
    const focused = document.activeElement?.closest<HTMLElement>('[data-index]')?.dataset.index
    const from = focused === undefined ? (step === 1 ? -1 : count) : Number(focused)
    const to = Math.min(count - 1, Math.max(0, from + step))
    scrollTo(to)
    const drawn = link(to)
    if (drawn !== undefined) drawn.focus({ preventScroll: true })
    else requestAnimationFrame(() => link(to)?.focus({ preventScroll: true }))
  }
  useShortcut('j', () => move(1))
  useShortcut('k', () => move(-1))
}
