/**
 * Bounds how many requests are parsed in a turn of the event loop, of one connection and of all. Node parses all that a block of 64 KiB
 * holds before anything else has its turn: of the shortest requests more than a thousand, of which each is some objects, so
 * that eight connections held up all others for 214 ms (on a processor of 2.4 GHz; 1,000 requests take 20 to 25 ms there).
 * Here the rest of the block waits until those before it are answered. A parser can be halted only behind a request without a
 * body; a connection with many others at once ends.
 *
 * Reaches into `net.Socket`: `parser`, with its `onIncoming`, which Node calls with the head of each request and which says
 * what is behind it, `getCurrentBuffer`, `execute`, and the function that Node calls when a block was parsed. Where they are
 * missing nothing is bounded. Without it `pipelined-requests.test.ts` fails; `npm run attack -- pipelined-requests` sends
 * such requests.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ALL_PIPELINED_AT_ONCE, MAX_PIPELINED_TIMES, PIPELINED_AT_ONCE } from '../limits.ts'
import { postpone, stopReading } from './socket-reading.ts'

type OnIncoming = (req: IncomingMessage, shouldKeepAlive: boolean) => number
/** Told how many bytes of a block were parsed, or why it is none of HTTP. */
type OnExecute = (parsed: number | Error) => void

interface Parser {
  onIncoming?: OnIncoming | null
  incoming?: { readonly upgrade?: boolean } | null
  getCurrentBuffer(): Uint8Array
  execute(bytes: Uint8Array): number | Error
}

/** Tells Node's parser that what is behind the head is no HTTP: it leaves the rest of the block alone. */
const NO_HTTP_BEHIND = 2

/** Gives what bounds the requests of a new connection; `onTooMany` is called once for it, and has to end it. */
export function createPipelineBounds(): (socket: Socket, onTooMany: () => void) => void {
  const all = { inTurn: 0 }
  return (socket, onTooMany) => boundPipelining(socket, all, onTooMany)
}

function boundPipelining(socket: Socket, all: { inTurn: number }, onTooMany: () => void): void {
  const { parser } = socket as { readonly parser?: Parser | null }
  const onIncoming = parser?.onIncoming
  const executed = parser == null ? undefined : executeHookOf(parser)
  if (parser == null || onIncoming == null || executed === undefined) return
  let inTurn = 0
  let [isHalted, isOver] = [false, false]
  parser.onIncoming = (req, shouldKeepAlive) => {
    if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
    if (all.inTurn++ === 0) setImmediate(() => (all.inTurn = 0))
    if (isOver) return NO_HTTP_BEHIND
    const atOnce = all.inTurn < ALL_PIPELINED_AT_ONCE ? PIPELINED_AT_ONCE : 1
    if (inTurn > MAX_PIPELINED_TIMES * atOnce && hasBody(req)) {
      isOver = true
      onTooMany()
      return NO_HTTP_BEHIND
    }
    const behind = onIncoming(req, shouldKeepAlive)
    if (inTurn < atOnce || behind !== 0 || hasBody(req)) return behind
    isHalted = true
    return NO_HTTP_BEHIND
  }
  /** Keeps what is left of a block whose parsing was halted. */
  const keepRest = (block: Uint8Array, parsed: number) => {
    isHalted = false
    if (parsed >= block.length) return
    const rest = block.slice(parsed)
    stopReading(socket)
    postpone(socket, () => parseRest(rest))
  }
  const parseRest = (rest: Uint8Array) => {
    const parsed = parser.execute(rest)
    if (typeof parsed !== 'number') executed.call(parsed)
    // what would take the connection over has no place behind so many requests
    else if (!isHalted && parser.incoming?.upgrade === true) socket.destroy()
    else if (isHalted) keepRest(rest, parsed)
  }
  executed.replace((parsed) => {
    // it is a copy, and there during the call alone
    const block = isHalted ? parser.getCurrentBuffer() : undefined
    executed.call(parsed)
    if (block !== undefined && typeof parsed === 'number') keepRest(block, parsed)
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** The function that Node calls when the parser is through with a block, which stands under a number of Node's own. */
function executeHookOf(
  parser: object,
): { readonly call: OnExecute; replace(other: OnExecute): void } | undefined {
  const hooks = parser as Record<string, unknown>
  const key = Object.keys(hooks).find((each) => nameOf(hooks[each]) === 'bound onParserExecute')
  const methods = [hooks['getCurrentBuffer'], hooks['execute']]
  if (key === undefined || methods.some((method) => typeof method !== 'function')) return undefined
  const call = hooks[key] as OnExecute
  return { call, replace: (other) => void (hooks[key] = other) }
}

const nameOf = (value: unknown) => (typeof value === 'function' ? value.name : undefined)
