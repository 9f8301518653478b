import { Link, Outlet, useParams, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { useMachines } from '../../data/machines.tsx'
import type { Machine } from '../../model/machine.ts'
import { FILTER_WORDS, filterMachines } from '../../model/machine-filter.ts'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import { EmptyNote, ErrorNote } from '../../parts/notes.tsx'
import { LoadingRows } from '../../parts/loading-rows.tsx'
import { type Column, VirtualRows } from '../../parts/virtual-rows.tsx'
import page from '../page.module.css'
import { MachineCells } from './machine-cells.tsx'
import css from './machines.module.css'

const COLUMNS: readonly Column[] = [
  { title: 'Name' },
  { title: 'Address' },
  { title: 'Path' },
  { title: 'Now', align: 'end' },
  { title: 'Version' },
  { title: 'Id' },
]

/** All machines with their state; the filter and the open panel stand in the address. */
export function MachinesPage() {
  const { q = '' } = useSearch({ from: '/machines' })
  const { id } = useParams({ strict: false })
  return (
    <div className={cx(page.split, id !== undefined && page.open)}>
      <section className={page.list} aria-label="Machines">
        <MachineList filter={useDeferredValue(q)} openId={id} />
      </section>
      <Outlet />
    </div>
  )
}

function MachineList({ filter, openId }: { filter: string; openId: string | undefined }) {
  const { machines, error, retry } = useMachines()
  const shown = useMemo(() => filterMachines(machines ?? [], filter), [machines, filter])
  return (
    <>
      <header className={page.head}>
        <h1>Machines</h1>
        {machines !== undefined && (
          <span className={page.sub}>
            {shown.length === machines.length ? '' : `${countInWords(shown.length)} of `}
            {countInWords(machines.length)}
          </span>
        )}
        <FilterWords machines={machines ?? []} filter={filter} />
      </header>
      <div className={page.rows}>
        {error !== null && <ErrorNote title="The machines could not be read" error={error} retry={retry} />}
        {machines === undefined && error === null && <LoadingRows label="Reading the machines" />}
        {machines !== undefined && <Rows machines={machines} shown={shown} openId={openId} />}
      </div>
    </>
  )
}

interface RowsProps {
  readonly machines: readonly Machine[]
  readonly shown: readonly Machine[]
  readonly openId: string | undefined
}

function Rows({ machines, shown, openId }: RowsProps) {
  if (shown.length === 0) {
    return (
      <EmptyNote title="No machine fits the filter">
        <p>
          Words that the filter knows: <code>{FILTER_WORDS.join(' ')}</code>. Any other word is looked for in
          names, addresses and ids.
        </p>
        <p>
          <Link to="/machines" className={page.link}>
            Show all {countInWords(machines.length)}
          </Link>
        </p>
      </EmptyNote>
    )
  }
  return (
    <VirtualRows
      label="Machines"
      columns={COLUMNS}
      rowClass={css.row}
      rows={shown}
      rowKey={(machine) => machine.id}
      isSelected={(machine) => machine.id === openId}
      renderCells={(machine) => <MachineCells machine={machine} />}
    />
  )
}

/** The states that there are, each a filter to click. */
function FilterWords({ machines, filter }: { machines: readonly Machine[]; filter: string }) {
  const words = ['direct', 'relayed', 'indirect', 'offline'].flatMap((word) => {
    const count = filterMachines(machines, word).length
    return count === 0 ? [] : [{ word, count }]
  })
  if (words.length < 2) return null
  return (
    <ul className={css.words} aria-label="Filter by state">
      {words.map(({ word, count }) => (
        <li key={word}>
          <Link
            to="/machines"
            search={filter === word ? {} : { q: word }}
            aria-current={filter === word}
            className={cx(css.filterWord, filter === word && css.on)}
          >
            {WORDS_FOR_PEOPLE[word] ?? word} <span>{countInWords(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const WORDS_FOR_PEOPLE: Readonly<Record<string, string>> = { indirect: 'via others' }
