import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useBucket } from '../../data/bucket.ts'
import { useExit, useRead } from '../../data/reads.ts'
import type { Machine } from '../../model/machine.ts'
import { type LedgerPlace, partsOfMachine } from '../../model/machine-entries.ts'
import { shownName } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { PanelSection } from '../../parts/panel.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import css from './machine-panel.module.css'

/** Longer lists are shown in part until somebody asks for more. */
const SHOWN = 8

/** Lists what a machine has in the network: names, services, files, routes, and its entries in the ledger. */
export function MachineParts({ machine }: { machine: Machine }) {
  const { services, files, patterns, routes, entries } = useParts(machine)
  return (
    <>
      <Part title="Names" rows={patterns} keyOf={String}>
        {(pattern) => (
          <Link to="/names" search={{ pattern }} className={css.place}>
            {shownName(pattern)}
          </Link>
        )}
      </Part>
      <Part title="Services" rows={services} keyOf={String}>
        {(name) => (
          <Link to="/services" search={{ q: name }} className={css.link}>
            {shownName(name)}
          </Link>
        )}
      </Part>
      <Part title="Files" rows={files} keyOf={String}>
        {(name) => (
          <Link to="/files" search={{ q: name }} className={css.link}>
            {shownName(name)}
          </Link>
        )}
      </Part>
      <Part title="Networks behind it" rows={routes} keyOf={String}>
        {(route) => <Copy text={route} what="network" mono />}
      </Part>
      <Part title="In the ledger" rows={entries} keyOf={({ bucket, key }) => JSON.stringify([bucket, key])}>
        {(place) => <PlaceLink place={place} />}
      </Part>
    </>
  )
}

function useParts(machine: Machine) {
  const services = useRead('listServices', {})
  const files = useRead('listFiles', {})
  const names = useRead('listDns', {})
  const { data: vpn } = useExit()
  const { read: egress } = useBucket('egress')
  return useMemo(
    () =>
      partsOfMachine({
        machine,
        services: services.data ?? [],
        files: files.data ?? [],
        names: names.data ?? [],
        vpn,
        egress: Object.keys(egress.data?.values ?? {}),
      }),
    [machine, services.data, files.data, names.data, vpn, egress.data],
  )
}

interface PartProps<Row> {
  readonly title: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly children: (row: Row) => React.ReactNode
}

/** A list of one kind; nothing where the machine has none. */
function Part<Row>({ title, rows, keyOf, children }: PartProps<Row>) {
  const { drawn, more } = useFewRows(rows, SHOWN)
  if (rows.length === 0) return null
  return (
    <PanelSection title={title}>
      <ul className={css.list}>
        {drawn.map((row) => (
          <li key={keyOf(row)}>{children(row)}</li>
        ))}
      </ul>
      {more}
    </PanelSection>
  )
}

function PlaceLink({ place: { bucket, key } }: { place: LedgerPlace }) {
  return (
    <Link to="/ledger" search={{ bucket, key }} className={css.place}>
      {shownName(bucket)}/{shownName(key)}
    </Link>
  )
}
