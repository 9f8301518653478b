/**
 * Bounds what a WebSocket takes of others. @libp2p/websockets 10.1.21 leaves the length of a message at the 100 MiB of
 * `ws`, which keeps what has come of one until it is whole, of anybody and before any handshake. Nor does it listen to the
 * errors of a WebSocket, so that one frame that is none ends the process of a node.
 * Report to send: 'an accepted WebSocket has no error listener: a malformed frame of anybody is an uncaught exception. And
 * the listener sets no maxPayload; a libp2p message on it has at most 64 KiB and its length'.
 *
 * Reaches into the listener's `wsServer`; where it is missing nothing is bounded. Without it `websocket-messages.test.ts`
 * fails; `npm run attack -- websocket-messages` sends such messages.
 */
import type { EventEmitter } from 'node:events'
import type { Listener, Transport } from '@libp2p/interface'
import { MAX_WEBSOCKET_MESSAGE_BYTES } from '../limits.ts'

interface WebSocketServer {
  readonly options?: { maxPayload?: number }
  handleUpgrade?(...upgrade: [...request: unknown[], onSocket: OnSocket]): void
}

type AcceptedSocket = EventEmitter & { terminate?(): void }
type OnSocket = (socket: AcceptedSocket, request: unknown) => void

/** Changes a WebSocket transport so that who sends longer messages, or what is none, loses the connection and no more. */
export function boundWebSocketMessages<T extends Transport>(transport: T): T {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const listener: Listener & { readonly wsServer?: WebSocketServer } = createListener(options)
    if (listener.wsServer !== undefined) boundServer(listener.wsServer)
    return listener
  }
  return transport
}

function boundServer(server: WebSocketServer): void {
  if (server.options !== undefined) server.options.maxPayload = MAX_WEBSOCKET_MESSAGE_BYTES
  const handleUpgrade = server.handleUpgrade?.bind(server)
  if (handleUpgrade === undefined) return
  server.handleUpgrade = (...upgrade) => {
    const onSocket = upgrade.pop() as OnSocket
    handleUpgrade(...upgrade, (socket: AcceptedSocket, request: unknown) => {
      // without a listener the error would end the process; `ws` says why it closes, and would then read on for 30 s, however
      // much comes
      socket.on('error', () => socket.terminate?.())
      onSocket(socket, request)
    })
  }
}
