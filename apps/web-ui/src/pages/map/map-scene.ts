/** One picture of the map, and where its parts stand in it. */
import type { MapLink, MapNode, MapSite, NetworkMap } from '../../model/network-map.ts'
import { type MapView, type Point, type Size, toScreen } from '../../model/map-view.ts'
import type { Places } from './layout-client.ts'

export const MAP_COLOURS = [
  'ground',
  'step1',
  'line-strong',
  'text',
  'soft',
  'alive',
  'alive-wash',
  'relay',
  'glyph',
  'glyph-wash',
] as const
export type MapColours = Readonly<Record<(typeof MAP_COLOURS)[number], string>>

export interface MapScene {
  readonly map: NetworkMap
  /** The sites with an outline. */
  readonly sites: readonly MapSite[]
  readonly places: Places
  readonly view: MapView
  readonly size: Size
  readonly colours: MapColours
  readonly font: string
  /** Nodes and links that stand out; undefined: all are alike. */
  readonly lit: ReadonlySet<string> | undefined
  /** The node with a ring around it. */
  readonly marked: string | undefined
}

const NODE_PX = 24
const MIN_NODE_PX = 6
const MAX_NODE_PX = 32

/** The size of a node on the screen, in CSS pixels. */
export function nodeSize({ kind, count }: MapNode, { scale }: MapView): number {
  const size = Math.min(MAX_NODE_PX, Math.max(MIN_NODE_PX, NODE_PX * Math.sqrt(scale)))
  if (kind === 'self') return Math.max(NODE_PX, size)
  return kind === 'site' ? Math.min(2 * MAX_NODE_PX, size + 3 * Math.sqrt(count)) : size
}

/**
 * The places that a link goes through; none while one of them is not known. A relayed link bends beside the direct lines
 * of its relay: every second place is the middle of a bend.
 */
export function lineOf({ from, to, relay }: MapLink, places: Places): readonly Point[] {
  const [start, over, end] = [from, relay ?? from, to].map((id) => places.get(id))
  if (start === undefined || over === undefined || end === undefined) return []
  return relay === undefined ? [start, end] : [start, bend(start, over), over, bend(over, end), end]
}

/** How far a line bends, as a part of its length. */
const BEND = 0.07

function bend(from: Point, to: Point): Point {
  return {
    x: (from.x + to.x) / 2 - (to.y - from.y) * BEND,
    y: (from.y + to.y) / 2 + (to.x - from.x) * BEND,
  }
}

/** Room for names, which are wider than nodes. */
const SEEN_MARGIN_PX = 80

export function isNodeSeen({ places, view, size }: MapScene, id: string): boolean {
  const place = places.get(id)
  return place !== undefined && isSeen([toScreen(view, place)], size)
}

export function isSeen(line: readonly Point[], { width, height }: Size): boolean {
  if (line.length === 0) return false
  const between = (low: number, high: number, at: (point: Point) => number) =>
    Math.max(...line.map(at)) >= low && Math.min(...line.map(at)) <= high
  return (
    between(-SEEN_MARGIN_PX, width + SEEN_MARGIN_PX, ({ x }) => x) &&
    between(-SEEN_MARGIN_PX, height + SEEN_MARGIN_PX, ({ y }) => y)
  )
}
