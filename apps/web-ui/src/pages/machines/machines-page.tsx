import { Link, Outlet, useParams, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { useMachines } from '../../data/machines.tsx'
import { useRead } from '../../data/reads.ts'
import { AddMachineButton } from '../../join/add-machine-button.tsx'
import { AloneNote } from '../../join/alone-note.tsx'
import { byAttention, type Machine } from '../../model/machine.ts'
import { FILTER_WORDS, filterMachines } from '../../model/machine-filter.ts'
import { countInWords } from '../../model/rate-words.ts'
import { EmptyNote } from '../../parts/notes.tsx'
import { byFigure, byText, type SortableColumn } from '../../parts/use-sort.ts'
import { FilterWords } from '../lists/filter-words.tsx'
import { PlainList } from '../lists/plain-list.tsx'
import page from '../page.module.css'
import { MachineCells, type MachineRow } from './machine-cells.tsx'
import css from './machines.module.css'

const COLUMNS: readonly SortableColumn<MachineRow>[] = [
  { title: 'Name', compare: byText(({ machine }) => machine.name) },
  { title: 'Address', compare: byText(({ machine }) => machine.addresses[0] ?? '') },
  { title: 'Path', compare: ({ machine: a }, { machine: b }) => byAttention(a, b) },
  {
    title: 'Now',
    align: 'end',
    compare: byFigure(({ machine: { peer } }) => peer && peer.RateIn + peer.RateOut),
  },
  { title: 'Services', align: 'end', compare: byFigure(({ services }) => services) },
  { title: 'System', compare: byText(({ machine }) => machine.os) },
  { title: 'Version', compare: byText(({ machine }) => machine.version) },
  { title: 'Seen', compare: byFigure(({ machine: { peer } }) => peer && Date.parse(peer.LastSeen ?? '')) },
  { title: 'Id' },
]

const filterRows = (rows: readonly MachineRow[], filter: string) => {
  const shown = new Set(
    filterMachines(
      rows.map(({ machine }) => machine),
      filter,
    ),
  )
  return rows.filter(({ machine }) => shown.has(machine))
}

/** All machines with their state; the filter and the open panel stand in the address. */
export function MachinesPage() {
  const { q = '' } = useSearch({ from: '/machines' })
  const { id } = useParams({ strict: false })
  const { machines, error, refetch } = useMachines()
  const rows = useRows(machines)
  return (
    <PlainList
      title="Machines"
      what="the machines"
      columns={COLUMNS}
      rowClass={css.row}
      read={{ data: rows, error, refetch }}
      filter={q}
      filterRows={filterRows}
      keyOf={({ machine }) => machine.id}
      isSelected={({ machine }) => machine.id === id}
      renderCells={(row) => <MachineCells row={row} />}
      action={
        <div className={css.actions}>
          <FilterWords
            to="/machines"
            rows={machines ?? []}
            filterRows={filterMachines}
            words={STATES}
            filter={useDeferredValue(q)}
          />
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

/** States by the word of the filter, as people call them. */
const STATES = { direct: 'direct', relayed: 'relayed', indirect: 'via others', offline: 'offline' }

/** The machines, each with how many services it offers. */
function useRows(machines: readonly Machine[] | undefined): readonly MachineRow[] | undefined {
  const { data: services } = useRead('listServices', {})
  return useMemo(() => {
    const counts = Map.groupBy(services ?? [], ({ PeerID }) => PeerID)
    return machines?.map((machine) => ({ machine, services: counts.get(machine.id)?.length ?? 0 }))
  }, [machines, services])
}
