import { useState } from 'react'
import type { Column } from './table.tsx'

export interface SortableColumn<Row> extends Pick<Column, 'title' | 'align'> {
  /** Orders two rows by the column, the least first; undefined: the list cannot be sorted by it. */
  readonly compare?: (a: Row, b: Row) => number
}

/** Sorts rows by the column whose title was clicked; until then they stay as they are. Figures begin with the most. */
export function useSort<Row>(columns: readonly SortableColumn<Row>[]) {
  const [by, setBy] = useState<{ readonly title: string; readonly isUp: boolean }>()
  const compare = columns.find(({ title }) => title === by?.title)?.compare
  return {
    columns: columns.map(({ title, align, compare: isSortable }): Column => {
      const column = { title, ...(align && { align }) }
      if (isSortable === undefined) return column
      const isBy = title === by?.title
      return {
        ...column,
        sorted: isBy ? (by.isUp ? 'ascending' : 'descending') : 'none',
        onSort: () => setBy({ title, isUp: isBy ? !by.isUp : align !== 'end' }),
      }
    }),
    sort(rows: readonly Row[]): readonly Row[] {
      if (compare === undefined) return rows
      return rows.toSorted((a, b) => (by?.isUp === true ? compare(a, b) : compare(b, a)))
    },
  }
}

/** Orders by a figure, for `compare`; rows without one count as less than all others. */
export function byFigure<Row>(figureOf: (row: Row) => number | null | undefined) {
  // a time that nobody told is no number
  const figure = (row: Row) => (Number.isFinite(figureOf(row)) ? Number(figureOf(row)) : -1)
  return (a: Row, b: Row) => figure(a) - figure(b)
}

/** Orders by a text, for `compare`, as people do. */
export function byText<Row>(textOf: (row: Row) => string) {
  return (a: Row, b: Row) => COLLATOR.compare(textOf(a), textOf(b))
}

const COLLATOR = new Intl.Collator('en', { numeric: true })
