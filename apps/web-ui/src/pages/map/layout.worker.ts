/** Runs the layout beside the page. It works for one frame, answers, and goes on when the page asks for more. */
import { createLayout, type LayoutInput } from './layout.ts'

export interface LayoutRequest {
  /** Tells answers to this request from those to an earlier one. */
  readonly round: number
  /** New nodes and links; undefined: go on. */
  readonly input?: LayoutInput
}

export interface LayoutAnswer {
  readonly round: number
  /** The x and y of each node. */
  readonly places: Float32Array
  readonly isSettled: boolean
}

/** The time between two answers, in ms. */
const FRAME_MS = 33

const port = self as unknown as {
  onmessage: (message: MessageEvent<LayoutRequest>) => void
  postMessage(answer: LayoutAnswer, transfer: Transferable[]): void
}
const layout = createLayout()

port.onmessage = ({ data: { round, input } }) => {
  if (input !== undefined) layout.set(input)
  const until = performance.now() + FRAME_MS
  let isMoving = true
  while (isMoving && performance.now() < until) isMoving = layout.step()
  const places = layout.places()
  port.postMessage({ round, places, isSettled: !isMoving }, [places.buffer])
}
