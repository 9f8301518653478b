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

/** Stops reading a connection, whatever its requests ask for. */
export function stopReading(socket: Socket): void {
  ;(socket as PausedSocket)._paused = true
  socket.pause()
}

/** True between `stopReading` and `readOn`. */
export function isStopped(socket: Socket): boolean {
  return (socket as PausedSocket)._paused === true
}

/** The work that is to be done, by connection, before it is read again. */
const postponed = new WeakMap<Socket, () => void>()

/** Has `work` done in place of reading when the connection, which must be stopped, would be read again. */
export function postpone(socket: Socket, work: () => void): void {
  postponed.set(socket, work)
}

export function hasPostponed(socket: Socket): boolean {
  return postponed.has(socket)
}

/** Reads a connection again. What was postponed is done first, and may stop it anew. */
export function readOn(socket: Socket): void {
  if (socket.destroyed) return
  const paused: PausedSocket = socket as PausedSocket
  paused._paused = false
  paused.parser?.resume?.()
  const work = postponed.get(socket)
  postponed.delete(socket)
  work?.()
  if (!isStopped(socket)) socket.resume()
}
