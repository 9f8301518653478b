/**
 * Draws the map: 1. outlines of sites, 2. links, batched by look, 3. nodes, 4. names and round trips, as far as they do
 * not cover each other.
 * What lies outside of the canvas is skipped.
 */
import { lineWidth, type MapLink, type MapNode } from '../../model/network-map.ts'
import { type Point, toScreen } from '../../model/map-view.ts'
import { isNodeSeen, isSeen, lineOf, type MapScene } from './map-scene.ts'
import { paintNodes } from './paint-node.ts'
import { paintSites, siteNames, siteOutlines } from './paint-site.ts'
import { namesOf, paintTexts, tripsOf } from './paint-text.ts'

const MANY_LINKS = 400
const MIN_STRENGTH = 0.25
/** The thinnest line: below one device pixel on a phone, which browsers draw fast. */
const HAIR_PX = 0.45
const FADED = 0.14
const DASH = [5, 4]

type Context = CanvasRenderingContext2D

export function paintMap(context: Context, scene: MapScene): void {
  const { size, map } = scene
  context.clearRect(0, 0, size.width, size.height)
  const sites = siteOutlines(scene)
  paintSites(context, scene, sites)
  paintLinks(context, scene)
  const nodes = map.nodes
    .filter(({ id }) => isNodeSeen(scene, id))
    .toSorted((a, b) => rank(scene, a) - rank(scene, b))
  paintNodes(context, scene, nodes)
  paintTexts(context, scene, [
    ...siteNames(scene, sites),
    ...namesOf(scene, nodes.toReversed()),
    ...tripsOf(scene),
  ])
}

/** Nodes of a higher rank are drawn above the others, and their names go first. */
function rank({ lit, marked }: MapScene, { id, kind }: MapNode): number {
  if (id === marked) return 4
  return (lit?.has(id) === true ? 2 : 0) + Number(kind === 'self' || kind === 'site')
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
  const strength = Math.min(1, Math.max(MIN_STRENGTH, (MANY_LINKS / map.links.length) ** 0.5))
  context.lineJoin = 'round'
  for (const { link, isFaded, path } of batches.values()) {
    context.globalAlpha = isFaded ? FADED * strength : lit === undefined ? 0.6 * strength : 1
    context.strokeStyle = link.path === 'direct' ? colours.alive : colours.relay
    context.lineWidth = lineWidth(link.bytesPerSecond) * Math.max(HAIR_PX, strength)
    context.setLineDash(link.path === 'direct' ? [] : DASH)
    context.stroke(path)
  }
  context.globalAlpha = 1
  context.setLineDash([])
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
