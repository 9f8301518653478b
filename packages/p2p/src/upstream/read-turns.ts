/**
 * How long the sockets of all peers are read in one turn of the event loop. Node 26.10 reads of each socket that has
 * something up to 32 blocks of 64 KiB before anything else has its turn, and then of the next one: sixteen peers that send
 * as fast as they can hold up a question to the API for half a second. Here the time is shared: when it is over, all of
 * them wait for the next turn, in which other work comes first.
 *
 * Reaches into `net.Socket`: `push` and `_read`, which Node calls for each block and when it may read on, and
 * `_handle.reading`, `readStart` and `readStop`. A socket without them is left alone. Without it `read-turns.test.ts` fails;
 * `npm run attack -- windows` sends so much.
 */
import type { Clock } from '@mesh/core'
import { READ_TURN_MS } from '../limits.ts'

/** A TCP socket of Node, as far as its inner end is used here. */
interface ReadSocket {
  readonly destroyed: boolean
  readonly _handle?: ReadHandle | null
  push(chunk: unknown, encoding?: unknown): boolean
  _read(size: number): void
  once(event: 'close', listener: () => void): unknown
}

interface ReadHandle {
  reading?: boolean
  readStart(): number
  readStop(): number
}

export class ReadTurns {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #sockets = new Set<ReadSocket>()
  /** The sockets that have to wait for the next turn, each with a function that has it read again. */
  readonly #waiting = new Map<ReadSocket, () => void>()
  /** When the first socket was read in this turn; undefined while none was. */
  #startMs: number | undefined
  #isOver = false

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Shares the time with this socket until it closes. */
  watch(socket: unknown): void {
    if (!isReadSocket(socket) || this.#sockets.has(socket)) return
    const [push, read] = [socket.push.bind(socket), socket._read.bind(socket)]
    this.#sockets.add(socket)
    socket.push = (chunk, encoding) => {
      this.#isTimeLeft()
      const mayFollow = push(chunk, encoding)
      // Node stops reading a socket that takes no more, and asks by `_read` when it may go on
      return this.#isTimeLeft() && mayFollow
    }
    socket._read = (size) => {
      if (this.#isOver) this.#waiting.set(socket, () => read(size))
      else read(size)
    }
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#waiting.delete(socket)
    })
  }

  /** False when this turn's time is over; all sockets are stopped then. */
  #isTimeLeft(): boolean {
    if (this.#isOver) return false
    const now = this.#clock.monotonic()
    if (this.#startMs === undefined) {
      this.#startMs = now
      setImmediate(() => this.#next())
    }
    if (now - this.#startMs < READ_TURN_MS) return true
    this.#isOver = true
    for (const socket of this.#sockets) this.#stop(socket)
    return false
  }

  #stop(socket: ReadSocket): void {
    const { _handle: handle } = socket
    if (handle?.reading !== true || this.#waiting.has(socket)) return
    handle.reading = false
    handle.readStop()
    this.#waiting.set(socket, () => {
      if (socket.destroyed || handle.reading === true || socket._handle !== handle) return
      handle.reading = true
      handle.readStart()
    })
  }

  #next(): void {
    this.#startMs = undefined
    this.#isOver = false
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const readOn of waiting) readOn()
  }
}

function isReadSocket(socket: unknown): socket is ReadSocket {
  if (typeof socket !== 'object' || socket === null) return false
  const { push, _read, _handle } = socket as Partial<ReadSocket>
  const isReadable = typeof push === 'function' && typeof _read === 'function'
  return isReadable && typeof _handle?.readStop === 'function' && typeof _handle.readStart === 'function'
}
