import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { useMachines } from '../../data/machines.tsx'
import { usePaths } from '../../data/paths.ts'
import { FilterField } from '../../frame/filter-field.tsx'
import { AloneNote } from '../../join/alone-note.tsx'
import { AddMachineButton } from '../../join/add-machine-button.tsx'
import { type Machine, machineOf } from '../../model/machine.ts'
import { filterMachines } from '../../model/machine-filter.ts'
import { buildNetworkMap, groupBySite, type MapNode, type NetworkMap } from '../../model/network-map.ts'
import { countInWords } from '../../model/rate-words.ts'
import { Button } from '../../parts/button.tsx'
import { cx } from '../../parts/class-names.ts'
import { useShortcut } from '../../parts/keyboard.tsx'
import { Unread } from '../../parts/notes.tsx'
import page from '../page.module.css'
import { MapCanvas } from './map-canvas.tsx'
import { MapFreshness } from './map-freshness.tsx'
import { MapPanel } from './map-panel.tsx'
import { MapTable } from './map-table.tsx'
import css from './map.module.css'

/** Above this number of machines a site is one node until somebody opens it or switches that off. */
const GROUP_FROM = 250
/** The number of machines that need no groups. */
const FEW = 8

/** Who reaches whom, how, how far and how much: as a picture and as a table. */
export function MapPage() {
  const { view, machine: chosen } = useSearch({ from: '/map' })
  const { machines, readAt: machinesReadAt, error, refetch } = useMachines()
  const { reports, readAt } = usePaths()
  const map = useMemo(
    () => buildNetworkMap({ machines: machines ?? [], machinesReadAt, reports, readAt }),
    [machines, machinesReadAt, reports, readAt],
  )
  const isTable = view === 'table'
  return (
    <div className={cx(page.split, chosen !== undefined && page.open)}>
      <section className={cx(page.list, css.page, !isTable && css.picture)} aria-label="Map">
        <header className={page.head}>
          <h1>Map</h1>
          {machines !== undefined && <MapFreshness machines={machines} reports={reports} readAt={readAt} />}
          <FilterField />
          <Views isTable={isTable} />
          {machines !== undefined && machines.length > 1 && <AddMachineButton />}
        </header>
        <Unread what="the machines" read={{ data: machines, error, refetch }} />
        {machines !== undefined && isTable && <Table machines={machines} map={map} />}
        {machines !== undefined && !isTable && <Picture machines={machines} map={map} chosen={chosen} />}
      </section>
      {chosen !== undefined && machines !== undefined && (
        <MapPanel id={chosen} machines={machines} links={map.links} />
      )}
    </div>
  )
}

function Views({ isTable }: { isTable: boolean }) {
  return (
    <nav className={css.views} aria-label="Show the map as">
      <Link
        to="/map"
        search={({ q }) => ({ ...(q !== undefined && { q }) })}
        className={isTable ? '' : css.on}
      >
        Picture
      </Link>
      <Link
        to="/map"
        search={({ q }) => ({ ...(q !== undefined && { q }), view: 'table' as const })}
        className={isTable ? css.on : ''}
      >
        Table
      </Link>
    </nav>
  )
}

/** The ids of the machines that the filter wants; undefined without a filter. */
function useFitting(machines: readonly Machine[]): ReadonlySet<string> | undefined {
  const { q = '' } = useSearch({ from: '/map' })
  const wanted = useDeferredValue(q)
  return useMemo(
    () => (wanted === '' ? undefined : new Set(filterMachines(machines, wanted).map(({ id }) => id))),
    [machines, wanted],
  )
}

interface MapProps {
  readonly machines: readonly Machine[]
  readonly map: NetworkMap
}

function Table({ machines, map }: MapProps) {
  const fitting = useFitting(machines)
  const links = map.links.filter(
    ({ from, to }) => fitting === undefined || fitting.has(from) || fitting.has(to),
  )
  return (
    <div className={page.rows}>
      <MapTable links={links} map={map} machines={machines} />
    </div>
  )
}

function Picture({ machines, map, chosen }: MapProps & { readonly chosen: string | undefined }) {
  const [isGrouped, setGrouped] = useState<boolean>()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const navigate = useNavigate({ from: '/map' })
  const fitting = useFitting(machines)
  const groups = isGrouped ?? machines.length > GROUP_FROM
  const chosenSite = map.nodes.find(({ id }) => id === chosen)?.site
  const shown = useMemo(
    () => (groups ? groupBySite(map, chosenSite === undefined ? open : new Set([...open, chosenSite])) : map),
    [map, groups, open, chosenSite],
  )
  const hasSites =
    machines.length > FEW && groupBySite(map, new Set()).nodes.some(({ kind }) => kind === 'site')
  const openMachine = (machine: string | undefined) =>
    void navigate({
      search: ({ q }) => ({ ...(q !== undefined && { q }), ...(machine !== undefined && { machine }) }),
    })
  const choose = (node: MapNode | undefined) => {
    if (node?.kind === 'site' && node.site !== undefined) setOpen(new Set([...open, node.site]))
    else openMachine(machineOf(machines, node?.id ?? '')?.id)
  }
  useMachineKeys(machines, chosen, openMachine)
  return (
    <>
      <MapCanvas map={shown} machines={machines} chosen={chosen} fitting={fitting} onChoose={choose} />
      {hasSites && (
        <div className={css.groups}>
          <Button aria-pressed={groups} onClick={() => setGrouped(!groups)}>
            Group by site
          </Button>
          {groups && open.size > 0 && (
            <Button tone="quiet" onClick={() => setOpen(new Set())}>
              Close {countInWords(open.size)} {open.size === 1 ? 'site' : 'sites'}
            </Button>
          )}
        </div>
      )}
      {machines.length === 1 && <Alone />}
    </>
  )
}

/** `j` and `k` go from machine to machine, by name. */
function useMachineKeys(
  machines: readonly Machine[],
  chosen: string | undefined,
  openMachine: (id: string) => void,
): void {
  const step = (by: 1 | -1) => {
    const at = machines.findIndex(({ id }) => id === chosen)
    const next = machines[Math.min(machines.length - 1, Math.max(0, at < 0 ? 0 : at + by))]
    if (next !== undefined) openMachine(next.id)
  }
  useShortcut('j', () => step(1))
  useShortcut('k', () => step(-1))
}

function Alone() {
  return (
    <div className={css.alone}>
      <AloneNote />
    </div>
  )
}
