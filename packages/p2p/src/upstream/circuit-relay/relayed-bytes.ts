/**
 * Has the two sides of a circuit over this node keep step: one side is read as fast as the other takes it.
 *
 * @library @libp2p/circuit-relay-v2 4.2.13
 * @wraps `CircuitRelayServer.handleConnect` and `stopHop`
 * @without Memory grows past its bound: the relay keeps all that one side sends and the other does not read.
 * @shown `test/relay.test.ts`, `npm run attack -- unread-circuits`
 */
import type { Stream } from '@libp2p/interface'
import { RELAY_HIGH_WATER_BYTES } from '../limits.ts'
import { chargeOf } from '../../muxer/stream-bounds.ts'
import { openInner } from '../inner-names.ts'
import { countElsewhere } from '../libp2p/bound-streams.ts'

/** The library's service, as far as its inner parts are used here. */
interface RelayServer {
  handleConnect(init: ConnectInit, options: unknown): Promise<void>
  stopHop(init: unknown, options: unknown): Promise<Stream | undefined>
}

interface ConnectInit {
  /** A reader and writer of messages on the stream that asks; `unwrap` gives the stream itself. */
  readonly stream: { unwrap(): Stream }
}

/** Changes a relay that has not started yet. @throws MeshError `p2p.incompatible_library` */
export function relayInStep<T>(relay: T): T {
  const names = ['handleConnect', 'stopHop'] as const
  const server = openInner<RelayServer>('@libp2p/circuit-relay-v2 4.2.13', relay, names)
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
  return relay
}

/** Reads one side as fast as the other takes it; must be called before they are joined. */
function readInStep(from: Stream, to: Stream): void {
  // bytes taken from one side and not yet given to the other
  let between = 0
  const waiting = () => between + to.writeBufferLength
  const keepStep = () => {
    const isFull = waiting() >= RELAY_HIGH_WATER_BYTES
    if (isFull && from.readStatus === 'readable') from.pause()
    if (!isFull && from.readStatus === 'paused') from.resume()
  }
  countElsewhere(from, waiting)
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

/** Tells that the other side has ended once all of its bytes were read: the library tells it at once. */
function endOnceRead(stream: Stream): void {
  const add = stream.addEventListener.bind(stream) as (...given: readonly unknown[]) => void
  stream.addEventListener = (type: string, listener: (event: Event) => void, ...rest: readonly unknown[]) => {
    if (type !== 'remoteCloseWrite') return add(type, listener, ...rest)
    // a stream that was reset ends, too; its `close` tells that
    const tell = (event: Event) => {
      if (stream.status !== 'aborted' && stream.status !== 'reset') listener(event)
    }
    add('end', tell, ...rest)
  }
}
