/**
 * Sets options of a TCP socket before it connects or accepts.
 *
 * @library Node.js 26.10
 * @wraps `_handle` of sockets and servers, its `fd`, `bind` and `bind6`
 * @without A VPN that this host carries catches its own packets: the kernel chooses the source address before Node tells of
 * the socket.
 * @shown `test/marked-sockets.test.ts`
 */
import type { Server, Socket } from 'node:net'
import { MeshError } from '@mesh/core'

/**
 * Sets options of a socket by its file descriptor. Throws where it may not.
 *
 * @param remote the IP address that the socket connects to; undefined: the socket listens
 */
export type MarkSocket = (fd: number, remote?: string) => void

/** The inner end of a socket. Its methods return 0 or a negative error. */
interface TcpHandle {
  readonly fd: number
  bind(address: string, port: number): number
  bind6(address: string, port: number, flags: number): number
}

/** Marks a socket that is about to connect. One that cannot be marked is destroyed with the error. */
export function markBeforeConnecting(socket: Socket, mark: MarkSocket): void {
  socket.on('connectionAttempt', (ip, _port, family) => {
    try {
      const handle = handleOf(socket)
      // makes the socket of the kernel, which connecting would make later
      const failed = family === 6 ? handle.bind6('::', 0, 0) : handle.bind('0.0.0.0', 0)
      if (failed !== 0) throw new Error(`a socket cannot be bound before it is marked (${failed})`)
      mark(handle.fd, ip)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

/** Marks a socket that listens; the sockets that it accepts inherit the options. Throws what `mark` throws. */
export function markListening(server: Server, mark: MarkSocket): void {
  mark(handleOf(server).fd)
}

/** @throws MeshError `p2p.incompatible_library` */
function handleOf(end: Socket | Server): TcpHandle {
  const { _handle } = end as { readonly _handle?: Partial<TcpHandle> | null }
  if (typeof _handle?.fd !== 'number' || typeof _handle.bind !== 'function')
    throw new MeshError('p2p.incompatible_library', 'sockets cannot be marked with this version of Node.js', {
      hint: 'Start the node with Node.js 26.',
    })
  return _handle as TcpHandle
}
