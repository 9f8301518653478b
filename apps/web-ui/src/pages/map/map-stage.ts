/** The map on its canvas: keeps places and view, and draws when something changed, at most once a frame. */
import {
  centreOn,
  fitView,
  type MapView,
  nearestLine,
  nearestPlace,
  panBy,
  type Point,
  type Size,
  zoomAt,
} from '../../model/map-view.ts'
import {
  type MapLink,
  type MapNode,
  type MapSite,
  type NetworkMap,
  outlinedSites,
} from '../../model/network-map.ts'
import { createLayoutClient, type Places } from './layout-client.ts'
import { lineOf, type MapColours, nodeSize } from './map-scene.ts'
import { paintMap } from './paint-map.ts'

export type MapTarget = { readonly node: MapNode } | { readonly link: MapLink }

/** The part of the picture that the page decides. */
interface MapPicture {
  readonly map: NetworkMap
  readonly colours: MapColours
  /** The machine whose panel is open, or that the keyboard is at. */
  readonly chosen: string | undefined
  /** Nodes that fit the filter; undefined without one. */
  readonly fitting: ReadonlySet<string> | undefined
  /** Only the picture in which all nodes stand. */
  readonly isStill: boolean
}

export interface MapStage {
  show(picture: MapPicture): void
  resize(size: Size): void
  zoom(factor: number, at?: Point): void
  pan(dx: number, dy: number): void
  /** Shows the whole map, and keeps doing so until somebody moves it. */
  fit(): void
  /** Brings a node into the middle. */
  centre(id: string): void
  /** Lights the target up with what belongs to it. */
  hover(target: MapTarget | undefined): void
  targetAt(at: Point): MapTarget | undefined
  stop(): void
}

const NODE_REACH_PX = 8
const LINE_REACH_PX = 6

export function createMapStage(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D): MapStage {
  return new CanvasStage(canvas, context)
}

class CanvasStage implements MapStage {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  readonly #layout = createLayoutClient((places, isSettled) => this.#place(places, isSettled))
  #picture: MapPicture | undefined
  #sites: readonly MapSite[] = []
  #places: Places = new Map()
  #view: MapView = { scale: 1, x: 0, y: 0 }
  #size: Size = { width: 0, height: 0 }
  #hovered: MapTarget | undefined
  #isFitting = true
  #frame: number | undefined

  constructor(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D) {
    this.#canvas = canvas
    this.#context = context
  }

  show(picture: MapPicture): void {
    if (picture.map !== this.#picture?.map) this.#sites = outlinedSites(picture.map)
    this.#picture = picture
    this.#arrange()
    this.#draw()
  }

  resize(size: Size): void {
    this.#size = size
    const ratio = devicePixelRatio
    this.#canvas.width = Math.round(size.width * ratio)
    this.#canvas.height = Math.round(size.height * ratio)
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.#arrange()
    // the canvas is empty now
    this.#paint()
  }

  zoom(factor: number, at: Point = { x: this.#size.width / 2, y: this.#size.height / 2 }): void {
    this.#move(zoomAt(this.#view, at, factor))
  }

  pan(dx: number, dy: number): void {
    this.#move(panBy(this.#view, dx, dy))
  }

  fit(): void {
    this.#isFitting = true
    this.#draw()
  }

  centre(id: string): void {
    const place = this.#places.get(id)
    if (place !== undefined) this.#move(centreOn(this.#view, place, this.#size))
  }

  hover(target: MapTarget | undefined): void {
    this.#hovered = target
    this.#draw()
  }

  targetAt(at: Point): MapTarget | undefined {
    const { nodes = [], links = [] } = this.#picture?.map ?? {}
    const place = { x: (at.x - this.#view.x) / this.#view.scale, y: (at.y - this.#view.y) / this.#view.scale }
    const nowhere = { x: Number.POSITIVE_INFINITY, y: 0 }
    const places = nodes.map(({ id }) => this.#places.get(id) ?? nowhere)
    const largest = Math.max(0, ...nodes.map((node) => nodeSize(node, this.#view)))
    const node = nodes[nearestPlace(places, place, (largest / 2 + NODE_REACH_PX) / this.#view.scale)]
    if (node !== undefined) return { node }
    const lines = links.map((each) => lineOf(each, this.#places))
    const link = links[nearestLine(lines, place, LINE_REACH_PX / this.#view.scale)]
    return link === undefined ? undefined : { link }
  }

  stop(): void {
    this.#layout.stop()
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
  }

  #arrange(): void {
    const { width, height } = this.#size
    if (this.#picture === undefined || height === 0) return
    if (this.#layout.arrange(this.#picture.map, width / height)) this.#canvas.ariaBusy = 'true'
  }

  #move(view: MapView): void {
    this.#isFitting = false
    this.#view = view
    this.#draw()
  }

  #place(places: Places, isSettled: boolean): void {
    if (this.#picture?.isStill === true && !isSettled) return
    this.#places = places
    if (isSettled) this.#canvas.ariaBusy = 'false'
    this.#draw()
  }

  #draw(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined
      this.#paint()
    })
  }

  #paint(): void {
    if (this.#picture === undefined || this.#size.width === 0) return
    if (this.#isFitting) this.#view = fitView([...this.#places.values()], this.#size)
    const { map, colours } = this.#picture
    paintMap(this.#context, {
      map,
      sites: this.#sites,
      colours,
      places: this.#places,
      view: this.#view,
      size: this.#size,
      font: getComputedStyle(this.#canvas).fontFamily,
      ...this.#light(this.#picture),
    })
  }

  /** A hovered target goes before the chosen machine, and that before the filter. */
  #light({ map, chosen, fitting }: MapPicture) {
    const hovered = this.#hovered
    if (hovered !== undefined && 'link' in hovered) {
      const { key, from, to, relay } = hovered.link
      return { lit: new Set([key, from, to, ...(relay === undefined ? [] : [relay])]), marked: undefined }
    }
    const marked = hovered?.node.id ?? chosen
    return { lit: marked === undefined ? fitting : neighboursOf(map, marked), marked }
  }
}

/** The node with its links and the nodes at their ends. */
function neighboursOf({ links }: NetworkMap, id: string): ReadonlySet<string> {
  const own = links.filter(({ from, to, relay }) => from === id || to === id || relay === id)
  return new Set([id, ...own.flatMap(({ key, from, to, relay }) => [key, from, to, relay ?? from])])
}
