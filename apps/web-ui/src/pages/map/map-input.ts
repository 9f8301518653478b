/** Pointer, wheel, pinch and keys on the map. */
import type { Point } from '../../model/map-view.ts'
import type { MapStage, MapTarget } from './map-stage.ts'

export interface MapInputHandlers {
  /** The pointer is over another target, or none. */
  onHover(target: MapTarget | undefined, at: Point): void
  onChoose(target: MapTarget | undefined): void
}

/** A pointer that moves less than this between down and up clicks. */
const CLICK_PX = 5
export const ZOOM_STEP = 1.4
const PAN_STEP_PX = 80
/** One notch of a wheel has 100 to 120. */
const WHEEL_ZOOM = 0.0022
const PINCH_WHEEL_ZOOM = 0.01

/** Keys by what they do to the stage. */
const KEYS: Readonly<Record<string, (stage: MapStage) => void>> = {
  '+': (stage) => stage.zoom(ZOOM_STEP),
  '=': (stage) => stage.zoom(ZOOM_STEP),
  '-': (stage) => stage.zoom(1 / ZOOM_STEP),
  '0': (stage) => stage.fit(),
  ArrowLeft: (stage) => stage.pan(PAN_STEP_PX, 0),
  ArrowRight: (stage) => stage.pan(-PAN_STEP_PX, 0),
  ArrowUp: (stage) => stage.pan(0, PAN_STEP_PX),
  ArrowDown: (stage) => stage.pan(0, -PAN_STEP_PX),
}

/** Listens until the signal ends. */
export function listenOnMap(
  canvas: HTMLCanvasElement,
  stage: MapStage,
  { handlers, signal }: { readonly handlers: MapInputHandlers; readonly signal: AbortSignal },
): void {
  const pointers = createPointers(canvas, stage, handlers)
  canvas.addEventListener('pointerdown', pointers.down, { signal })
  canvas.addEventListener('pointermove', pointers.move, { signal })
  canvas.addEventListener('pointerup', pointers.up, { signal })
  canvas.addEventListener('pointercancel', pointers.up, { signal })
  canvas.addEventListener('pointerleave', pointers.leave, { signal })
  const onWheel = (event: WheelEvent) => {
    event.preventDefault()
    const speed = event.ctrlKey ? PINCH_WHEEL_ZOOM : WHEEL_ZOOM
    stage.zoom(Math.exp(-event.deltaY * speed), pointOf(event))
  }
  canvas.addEventListener('wheel', onWheel, { signal, passive: false })
  const onKey = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key]
    if (act === undefined) return
    event.preventDefault()
    act(stage)
  }
  canvas.addEventListener('keydown', onKey, { signal })
}

function createPointers(canvas: HTMLCanvasElement, stage: MapStage, handlers: MapInputHandlers) {
  const down = new Map<number, Point>()
  /** How far the pointers went since the first came down. */
  let way = 0
  let hovered: MapTarget | undefined
  const hover = (target: MapTarget | undefined, at: Point) => {
    if (targetId(target) === targetId(hovered)) return
    hovered = target
    stage.hover(target)
    canvas.style.cursor = target === undefined ? '' : 'pointer'
    handlers.onHover(target, at)
  }
  const drag = (event: PointerEvent, from: Point) => {
    const at = pointOf(event)
    const [other] = [...down].filter(([id]) => id !== event.pointerId)
    down.set(event.pointerId, at)
    way += distance(at, from)
    if (other === undefined) {
      if (way > CLICK_PX) stage.pan(at.x - from.x, at.y - from.y)
      return
    }
    const [, still] = other
    stage.zoom(distance(at, still) / Math.max(1, distance(from, still)), middle(at, still))
    stage.pan((at.x - from.x) / 2, (at.y - from.y) / 2)
  }
  return {
    down(event: PointerEvent) {
      if (event.button !== 0) return
      canvas.setPointerCapture(event.pointerId)
      if (down.size === 0) way = 0
      down.set(event.pointerId, pointOf(event))
    },
    move(event: PointerEvent) {
      const from = down.get(event.pointerId)
      if (from !== undefined) drag(event, from)
      else hover(stage.targetAt(pointOf(event)), pointOf(event))
    },
    up(event: PointerEvent) {
      if (!down.delete(event.pointerId) || down.size > 0 || way > CLICK_PX) return
      if (event.type === 'pointerup') handlers.onChoose(stage.targetAt(pointOf(event)))
    },
    leave: (event: PointerEvent) => hover(undefined, pointOf(event)),
  }
}

function targetId(target: MapTarget | undefined): string | undefined {
  if (target === undefined) return undefined
  return 'node' in target ? target.node.id : target.link.key
}

function pointOf(event: MouseEvent): Point {
  return { x: event.offsetX, y: event.offsetY }
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
}
