import { Maximize, Minus, Plus } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Machine } from '../../model/machine.ts'
import type { Point } from '../../model/map-view.ts'
import { type MapNode, type NetworkMap, outlinedSites } from '../../model/network-map.ts'
import { useTokenColours } from '../../parts/token-colours.ts'
import { listenOnMap, ZOOM_STEP } from './map-input.ts'
import { MapLegend } from './map-legend.tsx'
import { createMapStage, type MapStage, type MapTarget } from './map-stage.ts'
import { MapTip } from './map-tip.tsx'
import css from './map.module.css'
import { MAP_COLOURS } from './map-scene.ts'

interface MapCanvasProps {
  readonly map: NetworkMap
  readonly machines: readonly Machine[]
  readonly chosen: string | undefined
  readonly fitting: ReadonlySet<string> | undefined
  /** A node that somebody clicked; undefined: the ground. */
  readonly onChoose: (node: MapNode | undefined) => void
}

interface Hovered {
  readonly target: MapTarget
  readonly at: Point
}

/** The picture. React draws what stands around it; the stage draws the rest without React. */
export function MapCanvas({ map, machines, chosen, fitting, onChoose }: MapCanvasProps) {
  const [hovered, setHovered] = useState<Hovered>()
  const canvas = useRef<HTMLCanvasElement>(null)
  const colours = useTokenColours(MAP_COLOURS)
  const stage = useStage(canvas, {
    onHover: (target, at) => setHovered(target && { target, at }),
    onChoose: (target) => {
      setHovered(undefined)
      if (target === undefined || 'node' in target) onChoose(target?.node)
    },
  })
  useEffect(
    () => stage?.show({ map, colours, chosen, fitting, isStill: isMotionReduced() }),
    [stage, map, colours, chosen, fitting],
  )
  return (
    <div className={css.stage}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keys of the map work while it has the focus */}
      <canvas
        ref={canvas}
        className={css.canvas}
        tabIndex={0}
        role="img"
        aria-label="The network as a picture. The table has the same facts. Keys: plus, minus and 0 zoom, arrows move, j and k walk through the machines."
      />
      {hovered !== undefined && <MapTip target={hovered.target} at={hovered.at} machines={machines} />}
      <MapLegend
        hasSites={map.nodes.some(({ kind }) => kind === 'site')}
        hasOutlines={outlinedSites(map).length > 0}
      />
      <div className={css.zoom} role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => stage?.zoom(ZOOM_STEP)}>
          <Plus aria-hidden="true" />
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out (-)"
          onClick={() => stage?.zoom(1 / ZOOM_STEP)}
        >
          <Minus aria-hidden="true" />
        </button>
        <button
          type="button"
          aria-label="Show everything"
          title="Show everything (0)"
          onClick={() => stage?.fit()}
        >
          <Maximize aria-hidden="true" />
        </button>
      </div>
    </div>
  )
}

/** Undefined where there is no canvas to draw on. */
function useStage(
  canvas: React.RefObject<HTMLCanvasElement | null>,
  handlers: Parameters<typeof listenOnMap>[2]['handlers'],
): MapStage | undefined {
  const [stage, setStage] = useState<MapStage>()
  const onHover = useEffectEvent(handlers.onHover)
  const onChoose = useEffectEvent(handlers.onChoose)
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (element == null || context == null) return undefined
    const created = createMapStage(element, context)
    const ending = new AbortController()
    const told = {
      onHover: (target: MapTarget | undefined, at: Point) => onHover(target, at),
      onChoose: (target: MapTarget | undefined) => onChoose(target),
    }
    listenOnMap(element, created, { handlers: told, signal: ending.signal })
    const sizes = new ResizeObserver(([entry]) => entry && created.resize(entry.contentRect))
    sizes.observe(element)
    setStage(created)
    return () => {
      ending.abort()
      sizes.disconnect()
      created.stop()
    }
  }, [canvas])
  return stage
}

function isMotionReduced(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
