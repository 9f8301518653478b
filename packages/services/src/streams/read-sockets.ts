/**
 * Reads local sockets in the time of the loop budget. Node reads one socket until nothing more has come, up to 2 MiB, and a
 * connection with hundreds of streams makes room for all of them at once. A socket that finds no time left waits for a
 * later turn of the event loop.
 */
import type { Socket } from 'node:net'
import { systemClock } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'

/** Sockets live in real time, on the one event loop of the process. */
const budget = loopBudget(systemClock)
const waiting = new WeakSet<Socket>()
/** The sockets that are read now. */
const reading = new Set<Socket>()

/** Has a socket read on, now or in a later turn. */
export function readOn(socket: Socket): void {
  if (!budget.isTimeLeft('members')) return readLater(socket)
  if (!reading.has(socket)) socket.once('close', forget)
  reading.add(socket)
  socket.resume()
}

/** Hands on a block that was read of a socket. No more is read until `readOn` where `send` gives false. */
export function handOn(socket: Socket, send: () => boolean): void {
  if (!send()) pauseReading(socket)
  // others may have blocks in this turn, too
  else if (!budget.isTimeLeft('members')) for (const each of reading) readLater(each)
}

/** Reads no more of a socket until `readOn`. */
export function pauseReading(socket: Socket): void {
  waiting.delete(socket)
  forget.call(socket)
  socket.pause()
}

function forget(this: Socket): void {
  reading.delete(this)
  this.off('close', forget)
}

function readLater(socket: Socket): void {
  forget.call(socket)
  socket.pause()
  if (waiting.has(socket) || socket.destroyed) return
  waiting.add(socket)
  budget.later('members', () => {
    if (waiting.delete(socket) && !socket.destroyed) readOn(socket)
  })
}
