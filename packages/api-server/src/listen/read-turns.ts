/**
 * How long the sockets of all connections to one listener are read in one turn of the event loop. Node 26.10 reads of each
 * socket that has something up to 32 blocks of 64 KiB before anything else has its turn, and its parser joins the blocks of
 * a head anew with each: sixty connections with heads of 700 KB each hold up all others for 300 ms. Here the time is
 * shared: when it is over, all of them wait for the next turn.
 *
 * Reaches into `net.Socket`: `_unrefTimer`, which Node calls with each block that it has read, and `_handle.reading`,
 * `readStart` and `readStop`; where they are missing nothing waits. Without it `read-turns.test.ts` fails; `npm run attack --
 * unfinished-heads` sends such heads.
 */
import type { Socket } from 'node:net'
import { type Clock, LoopTurns } from '@mesh/core'
import { READS_TURN_MS } from '../limits.ts'

interface ReadHandle {
  reading?: boolean
  readStart(): number
  readStop(): number
}

interface ReadSocket extends Pick<Socket, 'bytesRead' | 'destroyed' | 'isPaused' | 'once'> {
  readonly _handle?: ReadHandle | null
  _unrefTimer(): void
}

export class ReadTurns {
  readonly #turns: LoopTurns
  readonly #sockets = new Set<ReadSocket>()
  /** Those that wait for the next turn, each with what has it read again. */
  #waiting: (() => void)[] | undefined

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#turns = new LoopTurns(READS_TURN_MS, clock)
  }

  /** Has a connection share the time of a turn with all others. */
  watch(socket: Socket): void {
    const read: unknown = socket
    if (!isReadSocket(read)) return
    const touch = read._unrefTimer.bind(read)
    let bytesRead = 0
    this.#sockets.add(read)
    read.once('close', () => this.#sockets.delete(read))
    read._unrefTimer = () => {
      touch()
      // it is called for what is written, too
      if (read.bytesRead === bytesRead) return
      bytesRead = read.bytesRead
      if (this.#waiting === undefined && !this.#turns.isTimeLeft()) this.#stopAll()
    }
  }

  #stopAll(): void {
    const waiting = [...this.#sockets].flatMap((socket) => stop(socket) ?? [])
    this.#waiting = waiting
    this.#turns.later(() => {
      this.#waiting = undefined
      for (const readOn of waiting) readOn()
    })
  }
}

/** Stops reading a socket that is read; gives what has it read again, where nobody else wants it to wait. */
function stop(socket: ReadSocket): (() => void) | undefined {
  const { _handle: handle } = socket
  if (handle?.reading !== true) return undefined
  handle.reading = false
  handle.readStop()
  return () => {
    if (socket.destroyed || socket.isPaused() || handle.reading === true || socket._handle !== handle) return
    handle.reading = true
    handle.readStart()
  }
}

function isReadSocket(socket: unknown): socket is ReadSocket {
  const { _unrefTimer, _handle } = socket as Partial<ReadSocket>
  const methods = [_unrefTimer, _handle?.readStop, _handle?.readStart]
  return methods.every((method) => typeof method === 'function')
}
