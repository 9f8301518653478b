import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { cx } from './class-names.ts'
import { useShortcut } from './keyboard.tsx'
import { useNarrow } from './media.ts'
import { density } from './theme.ts'
import { TableHead, type TableProps } from './table.tsx'
import css from './virtual-rows.module.css'

/** Pixels; must be tall enough for one line and for two. */
const ROW_PX = 36
const ROW_COMPACT_PX = 28
const ROW_NARROW_PX = 60
const OVERSCAN_ROWS = 8
const NO_KEYS: readonly string[] = []
/** Before the list is laid out (and in jsdom, which has no layout) this much of it is drawn. */
const INITIAL_RECT = { width: 1024, height: 800 }

interface VirtualRowsProps<Row> extends TableProps<Row> {
  /** New rows come above the others: what was scrolled to stays in sight. */
  readonly isLive?: boolean
}

/** A table of any length that draws only what is seen; `j` and `k` walk along the rows' links. */
export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { label, columns, rowClass, rows, rowKey, isSelected, renderCells, isLive = false } = props
  const scroller = useRef<HTMLDivElement>(null)
  const narrow = useNarrow()
  const isCompact = density.use() === 'compact'
  const rowPx = narrow ? ROW_NARROW_PX : isCompact ? ROW_COMPACT_PX : ROW_PX
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
  useKeptPlace(scroller, isLive ? rows.map(rowKey) : NO_KEYS, rowPx)
  useRowKeys(scroller, rows.length, (index) => virtualizer.scrollToIndex(index))
  return (
    <div className={css.scroller} ref={scroller}>
      <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} aria-rowindex={1} className={cx(css.head, rowClass)} />
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
                className={cx(css.row, rowClass, isSelected?.(row) === true && css.selected)}
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

/** Scrolls as far as rows came in above, so that the rows in sight do not move. @param keys of all rows */
function useKeptPlace(
  scroller: React.RefObject<HTMLDivElement | null>,
  keys: readonly string[],
  rowPx: number,
): void {
  const first = useRef<string>(undefined)
  useLayoutEffect(() => {
    const above = first.current === undefined ? -1 : keys.indexOf(first.current)
    first.current = keys[0]
    const element = scroller.current
    if (above > 0 && element !== null && element.scrollTop > 0) element.scrollTop += above * rowPx
  })
}

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
