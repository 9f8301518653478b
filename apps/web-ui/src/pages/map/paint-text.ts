/** Draws names and round trips, as far as they do not cover each other. */
import type { MapNode } from '../../model/network-map.ts'
import { type Point, toScreen } from '../../model/map-view.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { isSeen, lineOf, type MapScene, nodeSize } from './map-scene.ts'
import { MAX_GLYPHS } from './paint-node.ts'

/** The scale from which all links show their round trips; below it those that are lit do, or a few. */
const TRIPS_FROM_SCALE = 2
const FEW_TRIPS = 16
const MAX_NAME_CHARS = 24

type Context = CanvasRenderingContext2D

export function tripsOf({ map, lit, view, places, colours }: MapScene): PlacedText[] {
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

export function namesOf({ lit, places, view, colours }: MapScene, nodes: readonly MapNode[]): PlacedText[] {
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

function shortName(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name
}

export interface PlacedText {
  readonly at: Point
  readonly text: string
  readonly colour: string
}

const TEXT_HEIGHT_PX = 15
/** More of them nobody reads, and each is compared with those before it. */
const MAX_TEXTS = 250

/** Texts with a rim of the ground's colour. One that would cover another is left out. */
export function paintTexts(
  context: Context,
  { colours, font, size }: MapScene,
  texts: readonly PlacedText[],
): void {
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
