/**
 * Bounds what a WebSocket takes of others, and lets go of it. @libp2p/websockets 10.1.21
 * 1 leaves the length of a message at the 100 MiB of `ws`, which keeps what has come of one until it is whole, of anybody and before
 *   any handshake, and dials by the WebSocket of Node, which has no bound at all;
 * 2 does not listen to the errors of a WebSocket, so that one frame that is none ends the process of a node;
 * 3 breaks a connection off by the code 1006, which no WebSocket takes: it stays open, is read on, and counts nowhere any more;
 * 4 reads on while a connection is paused, until what waits is 4 MiB;
 * 5 waits without a bound for who connects and does not ask for a WebSocket.
 * Reports to send: 'an accepted WebSocket has no error listener: a malformed frame of anybody is an uncaught exception; the listener
 * sets no maxPayload, and a libp2p message on it has at most 64 KiB and its length', and 'sendReset throws: 1006 is no code to close
 * with, so aborted connections stay open; sendPause could pause a socket of ws'.
 *
 * Reaches into the listener's `wsServer`, the transport's `_connect`, and `websocket` and the `send` methods of its connections; where
 * one is missing nothing is bounded. Without it `bounded-websockets.test.ts` fails; `npm run attack -- websocket-messages
 * websocket-strangers` sends such messages, and comes back when it is broken off.
 */
import { once, type EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { Listener, MultiaddrConnection, Transport, Upgrader } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { multiaddrToUri } from '@multiformats/multiaddr-to-uri'
import { WebSocket } from 'ws'
import { GOODBYE_MS, MAX_WEBSOCKET_MESSAGE_BYTES } from '../limits.ts'
import { watchAccepted } from './tcp-sockets.ts'

interface WebSocketServer {
  readonly options?: { maxPayload?: number }
  handleUpgrade?(...upgrade: [...request: unknown[], onSocket: OnSocket]): void
}

type AcceptedSocket = EventEmitter & { terminate?(): void }
type OnSocket = (socket: AcceptedSocket, request: unknown) => void

/** Follows the connections that a listener accepts. */
export interface AcceptedSockets {
  /** Is called with each as it comes. */
  accepted(socket: Socket): void
  /** Is called when one becomes a WebSocket. */
  upgraded(socket: Socket): void
}

export interface BoundInit {
  readonly clock: Pick<Clock, 'after'>
  readonly sockets: AcceptedSockets
}

interface DialOptions {
  readonly signal?: AbortSignal
}

/** A connection of the library over a WebSocket of `ws`, as far as its inner parts are used here. */
interface WebSocketConnection {
  readonly status: string
  readonly websocket?: WebSocket
  sendReset(): void
  sendClose(): Promise<void>
  sendPause(): void
  sendResume(): void
  onRemoteReset(): void
}

/** Changes a WebSocket transport so that its connections are bounded, and end when they are ended. */
export function boundWebSockets<T extends Transport>(transport: T, { clock, sockets }: BoundInit): T {
  const dialling = transport as {
    _connect?: (address: Multiaddr, options: DialOptions) => Promise<WebSocket>
  }
  if (dialling._connect !== undefined) dialling._connect = connect
  const dial = transport.dial.bind(transport)
  transport.dial = (address, options) =>
    dial(address, { ...options, upgrader: watching(options.upgrader, clock) })
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const upgrader = watching(options.upgrader, clock)
    const listener: Listener & { readonly wsServer?: WebSocketServer } = createListener({
      ...options,
      upgrader,
    })
    if (listener.wsServer !== undefined) boundServer(listener.wsServer, sockets)
    return listener
  }
  return watchAccepted(transport, (socket) => sockets.accepted(socket))
}

/** @throws Error when there is no WebSocket there, or the signal aborts first */
async function connect(address: Multiaddr, { signal }: DialOptions): Promise<WebSocket> {
  signal?.throwIfAborted()
  const websocket = new WebSocket(multiaddrToUri(address), {
    maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  websocket.binaryType = 'arraybuffer'
  endAtErrors(websocket)
  try {
    await once(websocket, 'open', signal === undefined ? {} : { signal })
    return websocket
  } catch (error) {
    websocket.terminate()
    throw error
  }
}

/** An upgrader that has each connection of a WebSocket end when it is ended. */
function watching(upgrader: Upgrader, clock: Pick<Clock, 'after'>): Upgrader {
  const inbound: Upgrader['upgradeInbound'] = (connection, options) =>
    upgrader.upgradeInbound(withEnds(connection, clock), options)
  const outbound = (connection: MultiaddrConnection, options: never) =>
    upgrader.upgradeOutbound(withEnds(connection, clock), options)
  return Object.create(upgrader, {
    upgradeInbound: { value: inbound },
    upgradeOutbound: { value: outbound },
  }) as Upgrader
}

function withEnds<T extends object>(given: T, clock: Pick<Clock, 'after'>): T {
  const connection = given as T & WebSocketConnection
  const { websocket } = connection
  if (typeof websocket?.terminate !== 'function') return given
  connection.sendReset = () => websocket.terminate()
  connection.sendPause = () => websocket.pause()
  connection.sendResume = () => websocket.resume()
  connection.sendClose = async () => {
    websocket.close()
    // `ws` itself waits for half a minute for who does not close
    websocket.once(
      'close',
      clock.after(GOODBYE_MS, () => websocket.terminate()),
    )
  }
  const onRemoteReset = connection.onRemoteReset.bind(connection)
  // a WebSocket that was cut off here says so, too
  connection.onRemoteReset = () => {
    if (connection.status === 'open' || connection.status === 'closing') onRemoteReset()
  }
  return given
}

function boundServer(server: WebSocketServer, sockets: AcceptedSockets): void {
  if (server.options !== undefined) server.options.maxPayload = MAX_WEBSOCKET_MESSAGE_BYTES
  const handleUpgrade = server.handleUpgrade?.bind(server)
  if (handleUpgrade === undefined) return
  server.handleUpgrade = (...upgrade) => {
    const onSocket = upgrade.pop() as OnSocket
    const [, raw] = upgrade as unknown as readonly [unknown, Socket]
    handleUpgrade(...upgrade, (socket: AcceptedSocket, request: unknown) => {
      endAtErrors(socket)
      sockets.upgraded(raw)
      onSocket(socket, request)
    })
  }
}

/**
 * Cuts a WebSocket off at its first error. Without a listener an error would end the process; `ws` itself says why it closes, and
 * reads on for 30 s, however much comes.
 */
function endAtErrors(socket: AcceptedSocket): void {
  socket.on('error', () => socket.terminate?.())
}
