/**
 * Has the two sides of a circuit over this node keep step. @libp2p/circuit-relay-v2 4.2.13 joins them by `pipe` of
 * @libp2p/utils 7.4.1, which takes what the one sends as fast as it comes and keeps it until the other takes it, without a
 * bound: a member filled circuits to members that read nothing, and the node grew by 435 MB in eight seconds
 * (`npm run attack -- unread-circuits`). So a side is not read while more than a little of it waits to be passed on, and it has
 * ended once all that came before its end was read. What waits is counted with what waits on streams that nobody reads.
 * Report to send: 'a relay buffers all that one side of a circuit sends and the other does not read'.
 *
 * Reaches into the server's `handleConnect` and `stopHop`; where one is missing nothing is held back. Without it
 * `test/relay.test.ts` ('a circuit is read as fast as it is taken') fails.
 */
import type { Stream } from '@libp2p/interface'
import { RELAY_HIGH_WATER_BYTES } from '../limits.ts'
import { chargeOf, countHeld } from './held-by-readers.ts'

/** The library's service, as far as its inner parts are used here. */
interface RelayServer {
  handleConnect(init: ConnectInit, options: unknown): Promise<void>
  stopHop(init: unknown, options: unknown): Promise<Stream | undefined>
}

interface ConnectInit {
  /** A reader and writer of messages on the stream that asks; `unwrap` gives the stream itself. */
  readonly stream: { unwrap(): Stream }
}

/** Has a relay keep little of what the sides of its circuits send. */
export function relayInStep(server: object): void {
  if (!isRelayServer(server)) return
  const { handleConnect } = server
  server.handleConnect = async (init, options) => {
    let to: Stream | undefined
    const stopHop = async (...asked: Parameters<RelayServer['stopHop']>) =>
      (to = await server.stopHop(...asked))
    const unwrap = () => {
      const from = init.stream.unwrap()
      if (to !== undefined) {
        readInStep(from, to)
        readInStep(to, from)
      }
      return from
    }
    const joining = Object.create(server, { stopHop: { value: stopHop } }) as RelayServer
    await handleConnect.call(joining, { ...init, stream: { ...init.stream, unwrap } }, options)
  }
}

/** Reads one side only as fast as the other takes it; to be called before they are joined. */
function readInStep(from: Stream, to: Stream): void {
  // taken from the one side and not yet given to the other
  let between = 0
  const waiting = () => between + to.writeBufferLength
  const keepStep = () => {
    const isFull = waiting() >= RELAY_HIGH_WATER_BYTES
    if (isFull && from.readStatus === 'readable') from.pause()
    if (!isFull && from.readStatus === 'paused') from.resume()
  }
  countHeld(from, waiting)
  endOnceRead(from)
  from.addEventListener('message', ({ data }) => {
    between += chargeOf(data)
    keepStep()
  })
  const send = to.send.bind(to)
  to.send = (bytes) => {
    between = Math.max(0, between - chargeOf(bytes))
    const hasRoom = send(bytes)
    keepStep()
    return hasRoom
  }
  // of a whole connection's room the stream may have none
  for (const event of ['drain', 'idle'] as const) to.addEventListener(event, keepStep)
}

/** Tells that the other side ends once all that it sent was read: the library tells it at once, and some may still wait. */
function endOnceRead(stream: Stream): void {
  const add = stream.addEventListener.bind(stream) as (...given: readonly unknown[]) => void
  stream.addEventListener = (type: string, listener: (event: Event) => void, ...rest: readonly unknown[]) => {
    if (type !== 'remoteCloseWrite') return add(type, listener, ...rest)
    // what was broken off ends, too, and whoever listens is told of that by its closing
    const tell = (event: Event) => {
      if (stream.status !== 'aborted' && stream.status !== 'reset') listener(event)
    }
    add('end', tell, ...rest)
  }
}

function isRelayServer(server: object): server is RelayServer {
  const { handleConnect, stopHop } = server as Partial<RelayServer>
  return typeof handleConnect === 'function' && typeof stopHop === 'function'
}
