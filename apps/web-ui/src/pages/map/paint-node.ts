/** Draws the nodes of the map: glyphs with their state, groups, and dots where there are many. */
import { BoundedMap } from '@mesh/core'
import { buildGlyph } from '../../model/glyph.ts'
import type { MapNode } from '../../model/network-map.ts'
import { type Point, toScreen } from '../../model/map-view.ts'
import { countInWords } from '../../model/rate-words.ts'
import { type MapColours, type MapScene, nodeSize } from './map-scene.ts'

/** Below this size, and where more machines are seen than somebody tells apart, a machine is a dot. */
const MIN_GLYPH_PX = 13
export const MAX_GLYPHS = 250
const FADED = 0.28

type Context = CanvasRenderingContext2D

/** Draws the nodes in their order. */
export function paintNodes(context: Context, scene: MapScene, nodes: readonly MapNode[]): void {
  const paintMachine = nodes.length > MAX_GLYPHS ? paintDot : paintGlyph
  for (const node of nodes) paintNode(context, scene, { node, paintMachine })
  context.globalAlpha = 1
}

/** The look of nodes that stand out among many. */
const ALWAYS: Partial<Record<MapNode['kind'], PaintNode>> = { site: paintSite, self: paintGlyph }

type PaintNode = (context: Context, scene: MapScene, node: PlacedNode) => void

function paintNode(
  context: Context,
  scene: MapScene,
  { node, paintMachine }: { readonly node: MapNode; readonly paintMachine: PaintNode },
): void {
  const place = scene.places.get(node.id)
  if (place === undefined) return
  const at = toScreen(scene.view, place)
  const size = nodeSize(node, scene.view)
  context.globalAlpha = scene.lit?.has(node.id) === false ? FADED : 1
  const paint = size < MIN_GLYPH_PX ? paintDot : (ALWAYS[node.kind] ?? paintMachine)
  paint(context, scene, { node, at, size })
  if (node.id === scene.marked) paintRing(context, scene, at, size)
}

function paintDot(context: Context, scene: MapScene, { node, at, size }: PlacedNode): void {
  paintState(context, scene, { kind: node.kind, at, size: Math.min(MIN_GLYPH_PX, size + 1) })
}

interface PlacedNode {
  readonly node: MapNode
  readonly at: Point
  readonly size: number
}

function paintSite(context: Context, { colours, font }: MapScene, { node, at, size }: PlacedNode): void {
  circle(context, at, size / 2)
  context.fillStyle = colours['alive-wash']
  context.strokeStyle = colours.alive
  context.lineWidth = 1.5
  context.fill()
  context.stroke()
  context.fillStyle = colours.alive
  context.font = `600 13px ${font}`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.fillText(countInWords(node.count), at.x, at.y)
}

const MAX_GLYPHS_KEPT = 4_096
const glyphs = new BoundedMap<string, { readonly hue: number; readonly path: Path2D }>(MAX_GLYPHS_KEPT)

function glyphOf(id: string) {
  const known = glyphs.get(id)
  if (known !== undefined) return known
  const { hue, path } = buildGlyph(id)
  const glyph = { hue, path: new Path2D(path) }
  glyphs.set(id, glyph)
  return glyph
}

function paintGlyph(context: Context, scene: MapScene, { node, at, size }: PlacedNode): void {
  const { colours } = scene
  const { hue, path } = glyphOf(node.id)
  const isAway = node.kind === 'offline' || node.kind === 'relay'
  context.beginPath()
  context.roundRect(at.x - size / 2, at.y - size / 2, size, size, size * 0.23)
  context.fillStyle = colours.ground
  context.fill()
  context.fillStyle = isAway ? colours.step1 : turned(colours['glyph-wash'], hue)
  context.fill()
  context.strokeStyle = node.kind === 'self' ? colours.alive : colours['line-strong']
  context.lineWidth = node.kind === 'self' ? 2 : 0.5
  context.stroke()
  context.save()
  context.translate(at.x - size / 2, at.y - size / 2)
  context.scale(size / 7, size / 7)
  context.translate(1, 1)
  context.fillStyle = isAway ? colours['line-strong'] : turned(colours.glyph, hue)
  context.fill(path)
  context.restore()
  const corner = { x: at.x + size / 2, y: at.y + size / 2 }
  circle(context, corner, 6)
  context.fillStyle = colours.ground
  context.fill()
  paintState(context, scene, { kind: node.kind, at: corner, size: 9 })
}

/** The colour with another hue. */
function turned(colour: string, hue: number): string {
  return `oklch(from ${colour} l c ${hue} / alpha)`
}

interface StateShape {
  readonly kind: MapNode['kind']
  readonly at: Point
  readonly size: number
}

/** The shapes of the state marks elsewhere on the page. */
function paintState(context: Context, { colours }: MapScene, { kind, at, size }: StateShape): void {
  const radius = size / 2 - 0.6
  context.fillStyle = context.strokeStyle = stateColour(colours, kind)
  context.lineWidth = 1.4
  if (kind === 'self' || kind === 'relay') {
    context.beginPath()
    context.moveTo(at.x, at.y - radius)
    for (const [x, y] of [
      [radius, 0],
      [0, radius],
      [-radius, 0],
    ] as const)
      context.lineTo(at.x + x, at.y + y)
    context.closePath()
    if (kind === 'self') context.fill()
    else context.stroke()
    return
  }
  circle(context, at, radius)
  if (kind === 'direct') return context.fill()
  context.stroke()
  context.beginPath()
  if (kind === 'relayed') context.arc(at.x, at.y, radius, Math.PI / 2, (3 * Math.PI) / 2)
  if (kind === 'indirect') context.arc(at.x, at.y, radius / 2.5, 0, 2 * Math.PI)
  context.fill()
}

function stateColour(colours: MapColours, kind: MapNode['kind']): string {
  if (kind === 'relayed' || kind === 'relay') return colours.relay
  return kind === 'offline' ? colours['line-strong'] : colours.alive
}

function paintRing(context: Context, { colours }: MapScene, at: Point, size: number): void {
  circle(context, at, size / 2 + 7)
  context.strokeStyle = colours.alive
  context.lineWidth = 2
  context.stroke()
}

function circle(context: Context, { x, y }: Point, radius: number): void {
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
}
