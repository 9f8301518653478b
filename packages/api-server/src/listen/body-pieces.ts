/**
 * Bounds in how many pieces bodies come in a turn of the event loop, of one connection and of all. A body may come in chunks of
 * one byte, of which a block of 64 KiB holds eleven thousand: Node makes a buffer of each, and calls JavaScript with it, before
 * anything else has its turn. Eighty connections with such bodies held up all others for 2 s, and took 1.3 GB. A parser cannot
 * be halted in a body; so a connection with too many pieces at once ends, and what its block holds behind them is passed over
 * by the parser alone.
 *
 * Reaches into `net.Socket`: `parser`, with the function that Node calls with each piece, `parserOnBody`, which stands under a
 * number of Node's own on all parsers, those of other connections that use this one later among them. Where it is missing
 * nothing is bounded. Without it `body-pieces.test.ts` fails; `npm run attack -- crumbled-bodies` sends such bodies.
 */
import type { Socket } from 'node:net'
import { ALL_PIECES_AT_ONCE, FEW_PIECES_AT_ONCE, PIECES_AT_ONCE } from '../limits.ts'

type OnBody = (this: unknown, piece: Uint8Array) => void
type Hooks = Record<string, unknown> & { readonly socket?: unknown }

interface Turn {
  pieces: number
}

/** Gives what bounds the pieces of a new connection's bodies; `onTooMany` is called once for it, and has to end it. */
export function createPieceBounds(): (socket: Socket, onTooMany: () => void) => void {
  const all: Turn = { pieces: 0 }
  let nodes: { readonly key: string; readonly onBody: OnBody } | undefined
  return (socket, onTooMany) => {
    const { parser } = socket as { readonly parser?: Hooks | null }
    if (parser == null) return
    nodes ??= findHook(parser)
    if (nodes !== undefined) boundPieces({ socket, parser, all, onTooMany }, nodes)
  }
}

function boundPieces(
  { socket, parser, all, onTooMany }: BoundInit,
  { key, onBody }: { readonly key: string; readonly onBody: OnBody },
): void {
  const own: Turn = { pieces: 0 }
  let isOver = false
  const bounded: OnBody = (piece) => {
    // the parser is used for another connection by now
    if (parser.socket !== socket) return onBody.call(parser, piece)
    if (isOver) return undefined
    if (own.pieces++ === 0) setImmediate(() => (own.pieces = 0))
    if (all.pieces++ === 0) setImmediate(() => (all.pieces = 0))
    const most = all.pieces < ALL_PIECES_AT_ONCE ? PIECES_AT_ONCE : FEW_PIECES_AT_ONCE
    if (own.pieces <= most) return onBody.call(parser, piece)
    isOver = true
    // the parser makes nothing of a piece where there is no function for it
    parser[key] = undefined
    setImmediate(() => restore(bounded))
    return onTooMany()
  }
  const restore = (to: OnBody) => {
    if (parser[key] === undefined || parser[key] === bounded) parser[key] = to
  }
  parser[key] = bounded
  socket.once('close', () => restore(onBody))
}

interface BoundInit {
  readonly socket: Socket
  readonly parser: Hooks & Record<string, unknown>
  readonly all: Turn
  readonly onTooMany: () => void
}

function findHook(parser: Hooks): { readonly key: string; readonly onBody: OnBody } | undefined {
  const key = Object.keys(parser).find((each) => nameOf(parser[each]) === 'parserOnBody')
  return key === undefined ? undefined : { key, onBody: parser[key] as OnBody }
}

const nameOf = (value: unknown) => (typeof value === 'function' ? value.name : undefined)
