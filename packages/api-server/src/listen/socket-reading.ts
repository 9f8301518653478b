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

/** Reads a connection again. */
export function readOn(socket: Socket): void {
  if (socket.destroyed) return
  const paused: PausedSocket = socket as PausedSocket
  paused._paused = false
  paused.parser?.resume?.()
  socket.resume()
}
