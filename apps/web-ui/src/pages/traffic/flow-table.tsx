import type { StatsView } from '@mesh/api-contract'
import { useState } from 'react'
import { bytesInWords } from '../../model/rate-words.ts'
import { type Direction, type Flow, ratesOf, sumOf } from '../../model/traffic-history.ts'
import { Rate } from '../../parts/rate.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Cell, type Column } from '../../parts/table.tsx'
import css from './traffic.module.css'

interface FlowRow {
  readonly id: string
  readonly name: string
  /** The rate in bytes per second. */
  readonly now: number
  /** The sum in bytes. */
  readonly hour: number
  /** The bytes since the start; undefined where the node does not tell. */
  readonly total: number | undefined
}

interface FlowTableProps {
  readonly label: string
  readonly flows: readonly Flow[]
  readonly direction: Direction
  /** The length of a step in seconds. */
  readonly step: number
  readonly totals: Readonly<Record<string, StatsView>> | undefined
  readonly name: (id: string) => string
}

const SORTS = {
  name: { title: 'Name', compare: (a: FlowRow, b: FlowRow) => a.name.localeCompare(b.name) },
  now: { title: 'Now', compare: (a: FlowRow, b: FlowRow) => a.now - b.now },
  hour: { title: 'Last hour', compare: (a: FlowRow, b: FlowRow) => a.hour - b.hour },
  total: { title: 'Total', compare: (a: FlowRow, b: FlowRow) => (a.total ?? 0) - (b.total ?? 0) },
} as const
type SortKey = keyof typeof SORTS

/** The figures of a chart, sorted by any of them; the most first. */
export function FlowTable({ label, flows, direction, step, totals, name }: FlowTableProps) {
  const { columns, sort } = useSort()
  const rows = flows.map((flow) => rowOf(flow, { direction, step, totals, name }))
  return (
    <Rows
      label={label}
      columns={columns}
      rowClass={css.row}
      rows={sort(rows)}
      rowKey={({ id }) => id}
      renderCells={(row) => <FlowCells row={row} />}
    />
  )
}

function FlowCells({ row }: { row: FlowRow }) {
  return (
    <>
      <Cell title={row.id === '' ? row.name : row.id}>{row.name}</Cell>
      <Cell align="end">
        <Rate bytesPerSecond={row.now} />
      </Cell>
      <Cell align="end">{bytesInWords(Math.round(row.hour))}</Cell>
      <Cell align="end">{row.total === undefined ? '' : bytesInWords(row.total)}</Cell>
    </>
  )
}

function rowOf(flow: Flow, shown: Pick<FlowTableProps, 'direction' | 'step' | 'totals' | 'name'>): FlowRow {
  const { direction, step, totals, name } = shown
  const rates = ratesOf(flow, direction)
  const known = totals !== undefined && Object.hasOwn(totals, flow.ID) ? totals[flow.ID] : undefined
  const total = known && (direction === 'out' ? 0 : known.TotalIn) + (direction === 'in' ? 0 : known.TotalOut)
  return { id: flow.ID, name: name(flow.ID), now: rates.at(-1) ?? 0, hour: sumOf(rates) * step, total }
}

function useSort() {
  const [key, setKey] = useState<SortKey>('hour')
  const [isUp, setUp] = useState(false)
  const columns = (Object.keys(SORTS) as SortKey[]).map(
    (each): Column => ({
      title: SORTS[each].title,
      ...(each !== 'name' && { align: 'end' }),
      sorted: each === key ? (isUp ? 'ascending' : 'descending') : 'none',
      onSort() {
        setUp(each === key ? !isUp : each === 'name')
        setKey(each)
      },
    }),
  )
  const sort = (rows: readonly FlowRow[]) => {
    const { compare } = SORTS[key]
    return rows.toSorted((a, b) => (isUp ? compare(a, b) : compare(b, a)))
  }
  return { columns, sort }
}
