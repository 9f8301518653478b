/**
 * How many bytes were taken from a stream and still wait, for whoever reads the stream or for the other side of a circuit.
 * `byteStream` of @libp2p/utils 7.4.1, by which the library reads messages, takes all that comes, up to 4 MiB, whether anybody
 * wants the next one or not: behind a question that is refused, or whose answer waits, a member filled hundreds of streams. What
 * came since this end last said something counts as held, until the reader gives the stream back (a circuit that stands).
 *
 * Reaches into a stream's `dispatchEvent`, `send` and `removeEventListener`, by which messages are handed out, answers go and a
 * reader leaves; where one is missing nothing is counted. Without it `unread-bytes.test.ts` fails;
 * `npm run attack -- filled-behind` fills such streams.
 */
import { isReadByLibrary } from './message-bounds.ts'

/** The least bytes that one piece counts for, however short it is: 115 were measured, and 500 with a block of its own. */
const LEAST_PIECE_BYTES = 512

/** A stream of the library, as far as it is used here. */
interface HandedStream {
  readonly protocol?: string
  dispatchEvent?(event: Event): boolean
  send?(bytes: unknown): boolean
  removeEventListener?(type: string, ...rest: readonly unknown[]): void
}

const counts = new WeakMap<object, () => number>()

/** The number of bytes of a stream that were taken from it and still wait. */
export const heldOf = (stream: object): number => counts.get(stream)?.() ?? 0

/** True for a stream of which somebody takes more than is used at once. */
export const isHeld = (stream: object): boolean => counts.has(stream)

/** Has `count` say what was taken from a stream and still waits. */
export function countHeld(stream: object, count: () => number): void {
  counts.set(stream, count)
}

/** Gives the number of bytes that one piece counts for. */
export const chargeOf = ({ byteLength }: { readonly byteLength: number }): number =>
  Math.max(LEAST_PIECE_BYTES, byteLength)

/** Counts what the library's readers hold of a stream. */
export function countHeldByLibrary(read: object): void {
  const stream: HandedStream = read
  const dispatch = stream.dispatchEvent?.bind(stream)
  const send = stream.send?.bind(stream)
  const remove = stream.removeEventListener?.bind(stream)
  if (dispatch === undefined || send === undefined || remove === undefined) return
  let held = 0
  const count = () => held
  let isOver = false
  const stop = () => {
    isOver = true
    if (counts.get(stream) === count) counts.delete(stream)
    // whoever has wrapped it meanwhile stays in place
    if (stream.dispatchEvent === look) stream.dispatchEvent = dispatch
  }
  const watchAnswers = () => {
    counts.set(stream, count)
    stream.send = (bytes) => {
      held = 0
      return send(bytes)
    }
    stream.removeEventListener = (type, ...rest) => {
      if (type === 'message') stop()
      remove(type, ...rest)
    }
  }
  const look = (event: Event) => {
    const { protocol = '' } = stream
    // what comes before belongs to the negotiation of the protocol
    if (isOver || event.type !== 'message' || protocol === '') return dispatch(event)
    if (!isReadByLibrary(protocol)) stop()
    else {
      if (!counts.has(stream)) watchAnswers()
      held += chargeOf((event as MessageEvent<Uint8Array>).data)
    }
    return dispatch(event)
  }
  stream.dispatchEvent = look
}
