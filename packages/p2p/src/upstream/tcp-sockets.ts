/**
 * The TCP transport of libp2p keeps the server of each listener to itself. Here its sockets can be looked at
 * before libp2p gets them, so that another protocol can use the same port, and with it the same port mappings
 * and firewall rules.
 */
import type { Server, Socket } from 'node:net'
import type { Listener, Transport } from '@libp2p/interface'

/** Gets each accepted socket; `pass` gives it to libp2p. */
export type SocketInterceptor = (socket: Socket, pass: () => void) => void

/** Changes a TCP transport; where a later version of the library hides its server, libp2p gets all sockets at once. */
export function interceptSockets<T extends Transport>(transport: T, intercept: SocketInterceptor): T {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const listener = createListener(options)
    const server = serverOf(listener)
    const [onSocket] = server?.listeners('connection') ?? []
    if (server === undefined || onSocket === undefined) return listener
    server.removeAllListeners('connection')
    server.on('connection', (socket) =>
      intercept(socket, () => {
        // libp2p's listener throws where it does not listen any more
        if (server.listening) onSocket.call(server, socket)
        else socket.destroy()
      }),
    )
    return listener
  }
  return transport
}

/** Shows each socket that a transport accepts, as soon as it is there; none where a later version hides its server. */
export function watchAccepted<T extends Transport>(transport: T, watch: (socket: Socket) => void): T {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const listener = createListener(options)
    serverOf(listener)?.prependListener('connection', watch)
    return listener
  }
  return transport
}

function serverOf(listener: Listener): Server | undefined {
  const { server } = listener as Listener & { readonly server?: Partial<Server> }
  return typeof server?.listeners === 'function' ? (server as Server) : undefined
}
