import { type Machine, machineOf, nameOf } from '../../model/machine.ts'
import type { Point } from '../../model/map-view.ts'
import type { MapLink, MapNode } from '../../model/network-map.ts'
import { Rate } from '../../parts/rate.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { Age } from '../../parts/time.tsx'
import { LinkMark } from './link-mark.tsx'
import type { MapTarget } from './map-stage.ts'
import css from './map.module.css'

interface MapTipProps {
  readonly target: MapTarget
  readonly at: Point
  readonly machines: readonly Machine[]
}

/** Says what the pointer is over. */
export function MapTip({ target, at, machines }: MapTipProps) {
  return (
    <div className={css.tip} style={{ left: at.x, top: at.y }} role="status">
      {'node' in target ? (
        <NodeTip node={target.node} machines={machines} />
      ) : (
        <LinkTip link={target.link} machines={machines} />
      )}
    </div>
  )
}

function NodeTip({ node, machines }: { node: MapNode; machines: readonly Machine[] }) {
  const machine = machineOf(machines, node.id)
  return (
    <>
      <b>{node.name}</b>
      {machine !== undefined && <ReachMark machine={machine} />}
      {node.kind === 'relay' && <span>relay, no member of this network</span>}
      {node.kind === 'site' && <span>{node.count} machines at one site</span>}
    </>
  )
}

function LinkTip({ link, machines }: { link: MapLink; machines: readonly Machine[] }) {
  const name = (id: string) => (id.startsWith('site ') ? id.slice('site '.length) : nameOf(machines, id))
  return (
    <>
      <b>
        {name(link.from)} – {name(link.to)}
      </b>
      <LinkMark link={link} name={name} />
      <span>
        <Rate bytesPerSecond={link.bytesPerSecond} />, told by {nameOf(machines, link.toldBy)}{' '}
        <Age at={link.toldAt} />
      </span>
    </>
  )
}
