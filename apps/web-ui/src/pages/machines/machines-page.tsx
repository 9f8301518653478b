import { Link, Outlet, useParams, useSearch } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import { useMachines } from '../../data/machines.tsx'
import { AddMachineButton } from '../../join/add-machine-button.tsx'
import { AloneNote } from '../../join/alone-note.tsx'
import type { Machine } from '../../model/machine.ts'
import { FILTER_WORDS, filterMachines } from '../../model/machine-filter.ts'
import { countInWords } from '../../model/rate-words.ts'
import { cx } from '../../parts/class-names.ts'
import { EmptyNote } from '../../parts/notes.tsx'
import type { Column } from '../../parts/table.tsx'
import { PlainList } from '../lists/plain-list.tsx'
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
  const { machines, error, refetch } = useMachines()
  return (
    <PlainList
      title="Machines"
      what="the machines"
      columns={COLUMNS}
      rowClass={css.row}
      read={{ data: machines, error, refetch }}
      filter={q}
      filterRows={filterMachines}
      keyOf={(machine) => machine.id}
      isSelected={(machine) => machine.id === id}
      renderCells={(machine) => <MachineCells machine={machine} />}
      action={
        <div className={css.actions}>
          <FilterWords machines={machines ?? []} filter={useDeferredValue(q)} />
          {machines?.length !== 1 && <AddMachineButton />}
        </div>
      }
      note={machines?.length === 1 && <AloneNote />}
      panel={id !== undefined && <Outlet />}
      nothingFits={
        <EmptyNote title="No machine fits the filter">
          <p>
            Words that the filter knows: <code>{FILTER_WORDS.join(' ')}</code>. Any other word is looked for
            in names, addresses and ids.
          </p>
          <p>
            <Link to="/machines" className={page.link}>
              Show all {countInWords(machines?.length ?? 0)}
            </Link>
          </p>
        </EmptyNote>
      }
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
