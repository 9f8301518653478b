/**
 * Sockets that Node's HTTP reads, in the time of the loop budget. A held socket is not read. One block may hold thousands of
 * chunks, and there may be hundreds of sockets.
 */
import type { Socket } from 'node:net'
import { handOn, pauseReading, readOn } from './read-sockets.ts'
import { StreamDuplex } from './stream-duplex.ts'

const holds = new WeakMap<object, (isHeld: boolean) => void>()

/** Reads a socket from now on, in its turns. @param socket to an origin, with which a request is about to begin */
export function readInTurns(socket: Socket & { _paused?: boolean }): void {
  // Node 26.10 reads a socket again whenever its parser asks for more, unless this stands
  socket._paused = true
  let isHeld = false
  holds.set(socket, (shouldHold) => {
    if (shouldHold === isHeld) return
    isHeld = shouldHold
    if (isHeld) pauseReading(socket)
    else readOn(socket)
  })
  socket.on('data', () => handOn(socket, () => !isHeld))
  readOn(socket)
}

/** While it is held a tunnel, or a socket that is read in turns, brings nothing, whoever asks for more. */
export function setHeld(socket: unknown, isHeld: boolean): void {
  if (socket instanceof StreamDuplex) socket.setHeld(isHeld)
  else if (typeof socket === 'object' && socket !== null) holds.get(socket)?.(isHeld)
}
