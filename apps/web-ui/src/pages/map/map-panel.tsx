import { Link } from '@tanstack/react-router'
import { type Machine, machineOf, nameOf } from '../../model/machine.ts'
import type { MapLink } from '../../model/network-map.ts'
import { buttonLink } from '../../parts/button.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { PanelSection, SidePanel } from '../../parts/panel.tsx'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { Age } from '../../parts/time.tsx'
import { LinkMark } from './link-mark.tsx'
import css from './map.module.css'

interface MapPanelProps {
  readonly id: string
  readonly machines: readonly Machine[]
  readonly links: readonly MapLink[]
}

const PATHS_AT_A_TIME = 30

/** One machine of the map: how it reaches the others. */
export function MapPanel({ id, machines, links }: MapPanelProps) {
  const machine = machineOf(machines, id)
  const name = nameOf(machines, id)
  const own = links.filter(({ from, to }) => from === id || to === id)
  const { drawn, more } = useFewRows(own, PATHS_AT_A_TIME)
  return (
    <SidePanel
      to="/map"
      label={name}
      heading={
        <>
          <Glyph id={id} />
          {name}
        </>
      }
    >
      {machine !== undefined && (
        <p className={css.panelHead}>
          <ReachMark machine={machine} />
          <Link to="/machines/$id" params={{ id }} className={buttonLink}>
            Open the machine
          </Link>
        </p>
      )}
      <PanelSection title="Reaches">
        {own.length === 0 && <p className={css.soft}>Nobody reports a path of this machine now.</p>}
        <ul className={css.paths}>
          {drawn.map((link) => (
            <li key={link.key}>
              <OtherEnd id={link.from === id ? link.to : link.from} machines={machines} />
              <LinkMark link={link} name={(relay) => nameOf(machines, relay)} />
              <span className={css.soft}>
                told by {nameOf(machines, link.toldBy)} <Age at={link.toldAt} />
              </span>
              <Rate bytesPerSecond={link.bytesPerSecond} />
            </li>
          ))}
        </ul>
        {more}
      </PanelSection>
    </SidePanel>
  )
}

function OtherEnd({ id, machines }: { id: string; machines: readonly Machine[] }) {
  return (
    <Link
      to="/map"
      search={({ q }) => ({ ...(q !== undefined && { q }), machine: id })}
      className={css.machine}
    >
      <Glyph id={id} />
      <span className={css.name}>{nameOf(machines, id)}</span>
    </Link>
  )
}
