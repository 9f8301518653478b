/**
 * How long the sockets of all connections to one listener are read in one turn of the event loop. Node 26.10 reads of each
 * socket that has something up to 32 blocks of 64 KiB before anything else has its turn, and its parser joins the blocks of
 * a head anew with each: sixty connections with heads of 700 KB each hold up all others for 300 ms. Here a socket of which
 * a block was read after the time was over waits for the next turn.
 *
 * Reaches into `net.Socket`: `_unrefTimer`, which Node calls with each block that it has read; where it is missing nothing
 * waits. Without it `read-turns.test.ts` fails; `npm run attack -- unfinished-heads` sends such heads.
 */
import type { Socket } from 'node:net'
import { type Clock, LoopTurns } from '@mesh/core'
import { READS_TURN_MS } from '../limits.ts'
import { isStopped, readOn, stopReading } from './socket-reading.ts'

interface TimedSocket {
  _unrefTimer?: () => void
}

export class ReadTurns {
  readonly #turns: LoopTurns

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#turns = new LoopTurns(READS_TURN_MS, clock)
  }

  /** Has a connection share the time of a turn with all others. */
  watch(socket: Socket): void {
    const timed = socket as TimedSocket
    const touch = timed._unrefTimer?.bind(socket)
    if (touch === undefined) return
    let bytesRead = 0
    timed._unrefTimer = () => {
      touch()
      // it is called for what is written, too
      if (socket.bytesRead === bytesRead) return
      bytesRead = socket.bytesRead
      if (this.#turns.isTimeLeft() || isStopped(socket, 'bytes')) return
      stopReading(socket, 'bytes')
      this.#turns.later(() => readOn(socket, 'bytes'))
    }
  }
}
