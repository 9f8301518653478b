/**
 * How much of long requests is read in one turn of the event loop. Node 26.10 reads of each socket that has something up to
 * 32 blocks of 64 KiB before anything else has its turn, and its parser joins the blocks of a head anew with each: sixty
 * connections with heads of 700 KB each hold up all others for 300 ms. Here a socket of which much was read waits for a turn,
 * in which only a few go on; one with a short request never does. All of them have a rate together: thousands of texts come
 * of a head with hundreds of headers, and at 200 MB/s of them the process grew by 130 MB of what nobody held any more.
 *
 * Reaches into `net.Socket`: `_unrefTimer`, which Node calls with each block that it has read, and `_handle.reading`,
 * `readStart` and `readStop`; where they are missing nothing waits. Without it `read-turns.test.ts` fails; `npm run attack --
 * unfinished-heads long-headers` sends such heads.
 */
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import { LONG_READ_BYTES, LONG_READS, LONG_READS_AT_ONCE } from '../limits.ts'

interface ReadHandle {
  reading?: boolean
  readStart(): number
  readStop(): number
}

interface ReadSocket extends Pick<Socket, 'bytesRead' | 'destroyed' | 'isPaused'> {
  readonly _handle?: ReadHandle | null
  _unrefTimer(): void
}

export class ReadTurns {
  /** Functions that have the sockets which wait read again, in their order. */
  readonly #waiting: (() => void)[] = []
  readonly #rate: TokenBucket
  readonly #clock: Clock
  readonly #onRead: (socket: Socket, isLong: boolean) => void

  /** @param onRead called when a block of bytes was read, and whether much is in it */
  constructor(clock: Clock, onRead: (socket: Socket, isLong: boolean) => void) {
    this.#rate = createTokenBucket(LONG_READS, clock)
    this.#clock = clock
    this.#onRead = onRead
  }

  /** Has a connection share turns with all others. */
  watch(socket: Socket): void {
    const read: unknown = socket
    if (!isReadSocket(read)) return
    const touch = read._unrefTimer.bind(read)
    const onRead = this.#onRead
    let bytesRead = 0
    read._unrefTimer = () => {
      touch()
      // it is called for what is written, too
      const came = read.bytesRead - bytesRead
      bytesRead = read.bytesRead
      if (came === 0) return
      const isLong = came >= LONG_READ_BYTES
      onRead(socket, isLong)
      const readOn = isLong ? stop(read) : undefined
      if (readOn !== undefined && this.#waiting.push(readOn) === 1) setImmediate(this.#next)
    }
  }

  readonly #next = (): void => {
    for (let count = 0; count < LONG_READS_AT_ONCE && this.#waiting.length > 0; count++) {
      if (!this.#rate.take()) {
        this.#clock.after(1_000 / LONG_READS.perSecond, this.#next)
        return
      }
      this.#waiting.shift()?.()
    }
    if (this.#waiting.length > 0) setImmediate(this.#next)
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
