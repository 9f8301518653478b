/** When the sockets of Node's HTTP server are read. */
import type { Socket } from 'node:net'

/**
 * A socket of Node's HTTP server: 26.10 does not read one on which `_paused` stands, whatever the requests on it ask for.
 * Without it each answer has the socket read again.
 */
interface PausedSocket {
  _paused?: boolean
  /** It is paused with the socket. */
  readonly parser?: { resume?(): void } | null
}

/**
 * Why a socket is not read: a request on it waits for its turn, or its bytes do. Each is over for itself, and then the
 * socket is read again.
 */
type Reason = 'requests' | 'bytes'

const reasons = new WeakMap<Socket, Set<Reason>>()

/** Stops reading a connection, whatever its requests ask for. */
export function stopReading(socket: Socket, why: Reason): void {
  const known = reasons.get(socket) ?? new Set()
  reasons.set(socket, known.add(why))
  ;(socket as PausedSocket)._paused = true
  socket.pause()
}

/** True between `stopReading` and `readOn` for the same reason. */
export function isStopped(socket: Socket, why: Reason): boolean {
  return reasons.get(socket)?.has(why) === true
}

/** Reads a connection again, where nothing else stands against it. */
export function readOn(socket: Socket, why: Reason): void {
  const known = reasons.get(socket)
  known?.delete(why)
  if (socket.destroyed || (known !== undefined && known.size > 0)) return
  const paused: PausedSocket = socket as PausedSocket
  paused._paused = false
  paused.parser?.resume?.()
  socket.resume()
}
