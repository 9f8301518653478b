/**
 * Node gives no way to set an option on a TCP socket before it connects, and the kernel chooses its source address then.
 * Here the sockets that libp2p's transports open are marked in time: 1 `node:diagnostics_channel` tells of each socket
 * that this process opens; 2 those opened by a dial of ours are known by its asynchronous context, and by nothing that
 * runs once the dial has ended; 3 at `connectionAttempt` the handle is bound to any address, which makes the kernel's
 * socket, and that one is marked. Listening sockets hand their mark to what they accept.
 *
 * Node 26.10, `@libp2p/tcp` 11.0, `@libp2p/websockets` 10.1. The report to send: an option `mark` of `net.connect`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server, Socket } from 'node:net'
import type { Listener, Transport } from '@libp2p/interface'

/**
 * Marks a socket by its file descriptor, or sets another option of it. It throws where it may not.
 *
 * @param remote the IP address that is dialled; undefined: the socket listens
 */
export type MarkSocket = (fd: number, remote?: string) => void

export interface SocketMarker {
  /** Marks each TCP socket that `open` connects or lets listen, until what it returned has ended. */
  during<T>(open: () => Promise<T>): Promise<T>
  /** Changes a transport so that its sockets are marked. @throws Error for a transport without `_connect` */
  transport<T extends Transport>(transport: T): T
  /** No more sockets are marked. */
  stop(): void
}

/** The inner end of a socket of Node: the methods are those of libuv, and give 0 or a negative error. */
interface TcpHandle {
  readonly fd: number
  bind(address: string, port: number): number
  bind6(address: string, port: number, flags: number): number
}

type Connect = (this: Transport, ...args: unknown[]) => Promise<unknown>

const CONNECTING = 'net.client.socket'
const LISTENING = 'tracing:net.server.listen:asyncEnd'

/**
 * Begins to mark the sockets of this host, which `during` and `transport` tell from others.
 *
 * @param watch gets each of the sockets that connect
 */
export function createSocketMarker(
  mark: MarkSocket,
  watch: (socket: Socket) => void = () => {},
): SocketMarker {
  const opening = new AsyncLocalStorage<{ isOpen: boolean }>()
  const isOurs = () => opening.getStore()?.isOpen === true
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    if (!isOurs()) return
    socket.on('connectionAttempt', (ip, _port, family) => markFirst(socket, family, (fd) => mark(fd, ip)))
    watch(socket)
  }
  const onServer = (message: unknown) => {
    const { server } = message as { readonly server: Server }
    if (isOurs()) markListening(server, mark)
  }
  subscribe(CONNECTING, onSocket)
  subscribe(LISTENING, onServer)

  async function during<T>(open: () => Promise<T>): Promise<T> {
    const dial = { isOpen: true }
    try {
      return await opening.run(dial, open)
    } finally {
      // what the connection carries runs in the same context: it is no dial
      dial.isOpen = false
    }
  }

  return {
    during,
    transport(transport) {
      const inner = transport as Transport & { _connect?: Connect }
      const connect = inner._connect
      if (connect === undefined) throw new Error(`${transport[Symbol.toStringTag]} has no _connect to mark`)
      inner._connect = (...args) => during(() => connect.apply(transport, args))
      const createListener = transport.createListener.bind(transport)
      transport.createListener = (options) => markedListener(createListener(options), during)
      return transport
    },
    stop() {
      unsubscribe(CONNECTING, onSocket)
      unsubscribe(LISTENING, onServer)
    },
  }
}

function markedListener(listener: Listener, during: SocketMarker['during']): Listener {
  const listen = listener.listen.bind(listener)
  listener.listen = (address) => during(() => listen(address))
  return listener
}

/** Makes the socket of the kernel, which connecting would make, and marks it; one that cannot be marked is closed. */
function markFirst(socket: Socket, family: number, mark: MarkSocket): void {
  try {
    const handle = handleOf(socket)
    const failed = family === 6 ? handle.bind6('::', 0, 0) : handle.bind('0.0.0.0', 0)
    if (failed !== 0) throw new Error(`a socket cannot be bound before it is marked (${failed})`)
    mark(handle.fd)
  } catch (error) {
    socket.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

function markListening(server: Server, mark: MarkSocket): void {
  try {
    mark(handleOf(server).fd)
  } catch (error) {
    server.close()
    server.emit('error', error)
  }
}

function handleOf(end: Socket | Server): TcpHandle {
  const { _handle } = end as { readonly _handle?: TcpHandle | null }
  if (_handle === undefined || _handle === null) throw new Error('a socket without a handle')
  return _handle
}
