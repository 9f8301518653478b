/**
 * Draws the map: 1. links, batched by look, 2. nodes, 3. names and round trips, as far as they do not cover each other.
 * What lies outside of the canvas is skipped.
 */
import { buildGlyph } from '../../model/glyph.ts'
import { lineWidth, type MapLink, type MapNode, type NetworkMap } from '../../model/network-map.ts'
import { type MapView, type Point, type Size, toScreen } from '../../model/map-view.ts'
import { countInWords } from '../../model/rate-words.ts'
import { roundTripInWords } from '../../model/time-words.ts'
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
/** Below this size, and where more machines are seen than somebody tells apart, a machine is a dot. */
const MIN_GLYPH_PX = 13
const MAX_GLYPHS = 250
/** From this scale on all links show their round trips, below it those that are lit, or so few. */
const TRIPS_FROM_SCALE = 2
const FEW_TRIPS = 16
const MANY_LINKS = 400
const MIN_STRENGTH = 0.25
const FADED = 0.14
const DASH = [5, 4]
const MAX_NAME_CHARS = 24

type Context = CanvasRenderingContext2D

export function paintMap(context: Context, scene: MapScene): void {
  const { size, map } = scene
  context.clearRect(0, 0, size.width, size.height)
  paintLinks(context, scene)
  const nodes = map.nodes
    .filter(({ id }) => isNodeSeen(scene, id))
    .toSorted((a, b) => rank(scene, a) - rank(scene, b))
  const paintMachine = nodes.length > MAX_GLYPHS ? paintDot : paintGlyph
  for (const node of nodes) paintNode(context, scene, { node, paintMachine })
  context.globalAlpha = 1
  paintTexts(context, scene, [...namesOf(scene, nodes.toReversed()), ...tripsOf(scene)])
}

/** What matters more is drawn above the rest, and its name goes first. */
function rank({ lit, marked }: MapScene, { id, kind }: MapNode): number {
  if (id === marked) return 4
  return (lit?.has(id) === true ? 2 : 0) + Number(kind === 'self' || kind === 'site')
}

/** The size of a node on the screen, in CSS pixels. */
export function nodeSize({ kind, count }: MapNode, { scale }: MapView): number {
  const size = Math.min(MAX_NODE_PX, Math.max(MIN_NODE_PX, NODE_PX * Math.sqrt(scale)))
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

function addLine(path: Path2D, line: readonly Point[]): void {
  const [start, second, third] = line
  if (start === undefined || second === undefined) return
  path.moveTo(start.x, start.y)
  if (third === undefined) return path.lineTo(second.x, second.y)
  for (let at = 1; at + 1 < line.length; at += 2) {
    const [before, middle, after] = line.slice(at - 1, at + 2)
    if (before === undefined || middle === undefined || after === undefined) continue
    // the curve goes through the middle of the bend
    const pull = (side: 'x' | 'y') => 2 * middle[side] - (before[side] + after[side]) / 2
    path.quadraticCurveTo(pull('x'), pull('y'), after.x, after.y)
  }
}

function paintLinks(context: Context, scene: MapScene): void {
  const { map, colours, lit, places, view } = scene
  const batches = new Map<
    string,
    { readonly link: MapLink; readonly isFaded: boolean; readonly path: Path2D }
  >()
  for (const link of map.links) {
    const line = lineOf(link, places).map((place) => toScreen(view, place))
    if (!isSeen(line, scene.size)) continue
    const isFaded = lit !== undefined && !lit.has(link.key)
    const look = `${isFaded} ${link.path} ${lineWidth(link.bytesPerSecond)}`
    const batch = batches.get(look) ?? { link, isFaded, path: new Path2D() }
    batches.set(look, batch)
    addLine(batch.path, line)
  }
  // thousands of lines would hide the nodes
  const strength = Math.min(1, Math.max(MIN_STRENGTH, (MANY_LINKS / map.links.length) ** 0.7))
  context.lineJoin = 'round'
  for (const { link, isFaded, path } of batches.values()) {
    context.globalAlpha = isFaded ? FADED * strength : lit === undefined ? 0.6 * strength : 1
    context.strokeStyle = link.path === 'direct' ? colours.alive : colours.relay
    context.lineWidth = lineWidth(link.bytesPerSecond) * strength ** 0.5
    context.setLineDash(link.path === 'direct' ? [] : DASH)
    context.stroke(path)
  }
  context.globalAlpha = 1
  context.setLineDash([])
}

function tripsOf({ map, lit, view, places, colours }: MapScene): PlacedText[] {
  const links = lit === undefined ? map.links : map.links.filter(({ key }) => lit.has(key))
  if (view.scale < TRIPS_FROM_SCALE && links.length > FEW_TRIPS) return []
  return links.flatMap((link) => {
    const line = lineOf(link, places)
    const [start, second, third] = line
    if (start === undefined || second === undefined || link.roundTripMs === undefined) return []
    const place = third === undefined ? { x: (start.x + second.x) / 2, y: (start.y + second.y) / 2 } : second
    const colour = link.path === 'direct' ? colours.soft : colours.relay
    return { at: toScreen(view, place), text: roundTripInWords(link.roundTripMs), colour }
  })
}

function namesOf({ lit, places, view, colours }: MapScene, nodes: readonly MapNode[]): PlacedText[] {
  return nodes.flatMap((node) => {
    const place = places.get(node.id)
    if (place === undefined || lit?.has(node.id) === false) return []
    if (lit === undefined && nodes.length > MAX_GLYPHS && node.kind !== 'self') return []
    const at = toScreen(view, place)
    const isAway = node.kind === 'offline' || node.kind === 'relay'
    return {
      at: { x: at.x, y: at.y + nodeSize(node, view) / 2 + 11 },
      text: shortName(node.name),
      colour: isAway ? colours.soft : colours.text,
    }
  })
}

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
  context.globalAlpha = scene.lit?.has(node.id) === false ? FADED * 2 : 1
  const paint = node.kind === 'site' ? paintSite : size < MIN_GLYPH_PX ? paintDot : paintMachine
  paint(context, scene, { node, at, size })
  if (node.id === scene.marked) paintRing(context, scene, at, size)
}

function paintDot(context: Context, scene: MapScene, { node, at, size }: PlacedNode): void {
  paintState(context, scene, { kind: node.kind, at, size: Math.min(MIN_GLYPH_PX, size + 1) })
}

function shortName(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name
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

/** Marks by id; a page knows as many as the network has machines. */
const glyphs = new Map<string, { readonly hue: number; readonly path: Path2D }>()

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

interface PlacedText {
  readonly at: Point
  readonly text: string
  readonly colour: string
}

const TEXT_HEIGHT_PX = 15
/** More of them nobody reads, and each is compared with those before it. */
const MAX_TEXTS = 250

/** Texts with a rim of the ground's colour. One that would cover another is left out. */
function paintTexts(context: Context, { colours, font, size }: MapScene, texts: readonly PlacedText[]): void {
  context.font = `500 12px ${font}`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.lineWidth = 4
  context.lineJoin = 'round'
  context.strokeStyle = colours.ground
  const taken: { readonly at: Point; readonly half: number }[] = []
  for (const { at, text, colour } of texts) {
    if (taken.length >= MAX_TEXTS) return
    if (!isSeen([at], size)) continue
    const half = context.measureText(text).width / 2 + 3
    const covers = (other: (typeof taken)[number]) =>
      Math.abs(other.at.x - at.x) < other.half + half && Math.abs(other.at.y - at.y) < TEXT_HEIGHT_PX
    if (taken.some(covers)) continue
    taken.push({ at, half })
    context.strokeText(text, at.x, at.y)
    context.fillStyle = colour
    context.fillText(text, at.x, at.y)
  }
}

/** Room for names, which are wider than nodes. */
const SEEN_MARGIN_PX = 80

function isNodeSeen({ places, view, size }: MapScene, id: string): boolean {
  const place = places.get(id)
  return place !== undefined && isSeen([toScreen(view, place)], size)
}

function isSeen(line: readonly Point[], { width, height }: Size): boolean {
  if (line.length === 0) return false
  const between = (low: number, high: number, at: (point: Point) => number) =>
    Math.max(...line.map(at)) >= low && Math.min(...line.map(at)) <= high
  return (
    between(-SEEN_MARGIN_PX, width + SEEN_MARGIN_PX, ({ x }) => x) &&
    between(-SEEN_MARGIN_PX, height + SEEN_MARGIN_PX, ({ y }) => y)
  )
}
