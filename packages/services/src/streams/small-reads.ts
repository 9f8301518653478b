/**
 * Reads sockets in small pieces. What Node has read waits when the stream has no room, which is a block of 64 KiB for each
 * socket otherwise.
 *
 * @example
 * const socket: Socket = connect({ host, port, onread: smallReads(() => socket) })
 * socket.pause()
 */
import type { OnReadOpts, Socket } from 'node:net'
import { SMALL_READ_BYTES } from '../limits.ts'

/** All such sockets are read into it, one after the other: what was read is copied before the next one is read. */
const block = new Uint8Array(SMALL_READ_BYTES)

/** Gives the option `onread` of a socket, which has to be paused until its listeners are there. */
export function smallReads(socketOf: () => Socket): OnReadOpts {
  return {
    buffer: block,
    callback(bytesRead, from) {
      // in memory of its own: Node's pool of 64 KiB would stay for as long as one of eight pieces waits
      socketOf().emit('data', Buffer.from(new Uint8Array(from.subarray(0, bytesRead)).buffer))
      return true
    },
  }
}
