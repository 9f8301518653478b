/** Draws soft outlines around the machines of a site, with its name. */
import { outlineAround, type Point, toScreen } from '../../model/map-view.ts'
import { isSeen, type MapScene } from './map-scene.ts'
import type { PlacedText } from './paint-text.ts'

/** Room between machines and the outline: half a node and its name. */
const ROOM_PX = 26
const MIN_ROOM_PX = 12
const FILL_STRENGTH = 0.5
const LINE_STRENGTH = 0.35
/** The lower strength of sites while others are lit. */
const FADED = 0.4

interface SiteOutline {
  readonly name: string
  readonly outline: readonly Point[]
  readonly isLit: boolean
}

/** The outlines that can be seen, in CSS pixels. */
export function siteOutlines({ sites, places, view, size, lit }: MapScene): readonly SiteOutline[] {
  const room = Math.max(MIN_ROOM_PX, ROOM_PX * Math.min(1, view.scale))
  return sites.flatMap(({ name, members }) => {
    const points = members.flatMap((id) => places.get(id) ?? []).map((place) => toScreen(view, place))
    const outline = outlineAround(points, room)
    if (!isSeen(outline, size)) return []
    return { name, outline, isLit: lit === undefined || members.some((id) => lit.has(id)) }
  })
}

export function paintSites(
  context: CanvasRenderingContext2D,
  { colours }: MapScene,
  sites: readonly SiteOutline[],
): void {
  context.fillStyle = colours['alive-wash']
  context.strokeStyle = colours.alive
  context.lineWidth = 1
  for (const { outline, isLit } of sites) {
    context.beginPath()
    for (const { x, y } of outline) context.lineTo(x, y)
    context.closePath()
    context.globalAlpha = FILL_STRENGTH * (isLit ? 1 : FADED)
    context.fill()
    context.globalAlpha = LINE_STRENGTH * (isLit ? 1 : FADED)
    context.stroke()
  }
  context.globalAlpha = 1
}

/** Gives the names of the sites, each above its outline. */
export function siteNames({ colours }: MapScene, sites: readonly SiteOutline[]): PlacedText[] {
  return sites
    .filter(({ isLit }) => isLit)
    .map(({ name, outline }) => {
      const top = Math.min(...outline.map(({ y }) => y))
      const xs = outline.map(({ x }) => x)
      const at = { x: (Math.min(...xs) + Math.max(...xs)) / 2, y: top - 9 }
      return { at, text: name, colour: colours.soft }
    })
}
