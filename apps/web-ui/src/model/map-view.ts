/** Where things of the map stand on the screen, and which of them lies under a point. */
import { polygonHull } from 'd3-polygon'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** A place of the map is drawn at `place * scale + offset`, in CSS pixels. */
export interface MapView {
  readonly scale: number
  readonly x: number
  readonly y: number
}

const MIN_SCALE = 0.05
const MAX_SCALE = 4
const MAX_FIT_SCALE = 1.6
/** Room around the whole map for the heading, names, and the legend. */
const FIT_MARGIN_PX = { side: 56, top: 104, bottom: 84 }

export function toScreen(view: MapView, { x, y }: Point): Point {
  return { x: x * view.scale + view.x, y: y * view.scale + view.y }
}

/** Zooms and keeps the place under the point where it is. */
export function zoomAt(view: MapView, at: Point, factor: number): MapView {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor))
  const change = scale / view.scale
  return { scale, x: at.x - (at.x - view.x) * change, y: at.y - (at.y - view.y) * change }
}

export function panBy(view: MapView, dx: number, dy: number): MapView {
  return { ...view, x: view.x + dx, y: view.y + dy }
}

/** Puts a place in the middle. */
export function centreOn(view: MapView, { x, y }: Point, { width, height }: Size): MapView {
  return { scale: view.scale, x: width / 2 - x * view.scale, y: height / 2 - y * view.scale }
}

/** Shows all of the places. */
export function fitView(places: readonly Point[], size: Size): MapView {
  const middle = { scale: 1, x: size.width / 2, y: size.height / 2 }
  if (places.length === 0) return middle
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of places) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  const { side, top: above, bottom: below } = FIT_MARGIN_PX
  const room = { width: size.width - 2 * side, height: size.height - above - below }
  const scale = Math.min(
    MAX_FIT_SCALE,
    Math.max(1, room.width) / Math.max(1, right - left),
    Math.max(1, room.height) / Math.max(1, bottom - top),
  )
  const fitting = { ...middle, scale: Math.max(MIN_SCALE, scale) }
  const centred = centreOn(fitting, { x: (left + right) / 2, y: (top + bottom) / 2 }, size)
  return panBy(centred, 0, (above - below) / 2)
}

/** The index of the place nearest to the point, within the distance; -1 for none. */
export function nearestPlace(places: readonly Point[], at: Point, within: number): number {
  let nearest = -1
  let least = within ** 2
  for (const [index, { x, y }] of places.entries()) {
    const distance = (x - at.x) ** 2 + (y - at.y) ** 2
    if (distance > least) continue
    least = distance
    nearest = index
  }
  return nearest
}

/** The index of the line nearest to the point, within the distance; -1 for none. Lines go through two or three places. */
export function nearestLine(lines: readonly (readonly Point[])[], at: Point, within: number): number {
  let nearest = -1
  let least = within
  for (const [index, line] of lines.entries()) {
    for (const [part, end] of line.entries()) {
      const start = line[part - 1]
      const distance = start === undefined ? Infinity : distanceToLine(start, end, at)
      if (distance > least) continue
      least = distance
      nearest = index
    }
  }
  return nearest
}

/** The number of points in each rounded corner of an outline. */
const CORNER_POINTS = 12

/** The outline around points, `room` away from them, with round corners. */
export function outlineAround(points: readonly Point[], room: number): readonly Point[] {
  const hull = hullOf(points).flatMap(({ x, y }) =>
    Array.from({ length: CORNER_POINTS }, (_, at) => {
      const angle = (2 * Math.PI * at) / CORNER_POINTS
      return { x: x + room * Math.cos(angle), y: y + room * Math.sin(angle) }
    }),
  )
  return hullOf(hull)
}

/** The outermost points, in their order around the others. */
function hullOf(points: readonly Point[]): readonly Point[] {
  return polygonHull(points.map(({ x, y }) => [x, y]))?.map(([x, y]) => ({ x, y })) ?? points
}

function distanceToLine(start: Point, end: Point, at: Point): number {
  const [dx, dy] = [end.x - start.x, end.y - start.y]
  const along = ((at.x - start.x) * dx + (at.y - start.y) * dy) / (dx ** 2 + dy ** 2 || 1)
  const part = Math.min(1, Math.max(0, along))
  return Math.hypot(start.x + part * dx - at.x, start.y + part * dy - at.y)
}
