import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Machine, nameOf } from '../../model/machine.ts'
import { type MapLink, type NetworkMap, sitesInWords } from '../../model/network-map.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { Rate } from '../../parts/rate.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Cell, type Column, rowLink } from '../../parts/table.tsx'
import { Age } from '../../parts/time.tsx'
import { VirtualRows } from '../../parts/virtual-rows.tsx'
import css from './map.module.css'

const COLUMNS: readonly Column[] = [
  { title: 'From' },
  { title: 'To' },
  { title: 'Site' },
  { title: 'Path' },
  { title: 'Through' },
  { title: 'Round trip', align: 'end' },
  { title: 'Traffic', align: 'end' },
  { title: 'Told by' },
  { title: 'Told', align: 'end' },
]

interface MapTableProps {
  readonly links: readonly MapLink[]
  /** Tells the site of each machine. */
  readonly map: NetworkMap
  readonly machines: readonly Machine[]
}

/** The facts of the picture as rows. */
export function MapTable({ links, map, machines }: MapTableProps) {
  const sites = useMemo(() => new Map(map.nodes.map(({ id, site }) => [id, site])), [map])
  if (links.length === 0) return <EmptyNote title="No path fits" />
  return (
    <VirtualRows
      label="Paths"
      columns={COLUMNS}
      rowClass={css.row}
      rows={links}
      rowKey={({ key }) => key}
      renderCells={(link) => (
        <LinkCells
          link={link}
          name={(id) => nameOf(machines, id)}
          site={sitesInWords(sites.get(link.from), sites.get(link.to))}
        />
      )}
    />
  )
}

interface LinkCellsProps {
  readonly link: MapLink
  readonly name: (id: string) => string
  readonly site: string
}

function LinkCells({ link, name, site }: LinkCellsProps) {
  return (
    <>
      <Cell className={css.machine}>
        <Glyph id={link.from} />
        <Link to="/machines/$id" params={{ id: link.from }} className={`${rowLink} ${css.name}`}>
          {name(link.from)}
        </Link>
      </Cell>
      <Cell className={css.machine}>
        <Glyph id={link.to} />
        <span className={css.name}>{name(link.to)}</span>
      </Cell>
      <Cell className={css.site} title={site}>
        {site}
      </Cell>
      <Cell>
        <StateMark tone={link.path} word={link.path} />
      </Cell>
      <Cell className={css.through}>{link.relay === undefined ? '' : name(link.relay)}</Cell>
      <Cell align="end">{link.roundTripMs === undefined ? '' : roundTripInWords(link.roundTripMs)}</Cell>
      <Cell align="end">
        <Rate bytesPerSecond={link.bytesPerSecond} />
      </Cell>
      <Cell className={css.soft}>{name(link.toldBy)}</Cell>
      <Cell className={css.soft} align="end">
        <Age at={link.toldAt} />
      </Cell>
    </>
  )
}
